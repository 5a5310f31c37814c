"""What guessing gives, exactly.

Source: formats description of LLM-Coordination, section 1.10: for each question, the listed letters in the accepted set over all listed
letters.
"""

from __future__ import annotations

from games.coordination.qa.questions import QaQuestion


def chance(question: QaQuestion) -> float:
    """Probability, 0 to 1, that an option drawn uniformly has a letter of the published key."""
    return sum(option.letter in question.keyed_letters for option in question.options) / len(question.options)


def chance_corrected(question: QaQuestion) -> float:
    """The same with the corrected key."""
    return len(question.correct_options) / len(question.options)


def chance_upstream(question: QaQuestion) -> float:
    """Probability that the published random model is counted as right: it draws among the lines after the header, empty ones included."""
    letters = [chr(ord("A") + place) for place in range(len(question.lines))]
    accepted = set(question.key.split(","))
    return sum(letter in accepted for letter in letters) / len(letters)
