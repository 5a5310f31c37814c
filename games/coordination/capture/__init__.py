"""CollabCapture: two players catch a thief among rooms with doors."""
