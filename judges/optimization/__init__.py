"""Better rubrics by example: a rubric's instructions and demonstrations are sought that bring a judge closer to labels."""
