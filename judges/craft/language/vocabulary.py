"""The words of directors, as data: every line of a table is one meaning and the phrases that carry it.

A phrase is written in lower case with single blanks; contractions are already expanded (``isn't`` is ``is not``).
Longer phrases win over shorter ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "ADJECTIVES",
    "BLOCK_NOUNS",
    "CELL_NOUNS",
    "COLORS",
    "COUNTS",
    "DETERMINERS",
    "LAYER_NOUNS",
    "NUMERALS",
    "PHRASES",
    "SIZES",
    "TYPO_TARGETS",
    "Meaning",
]


class Meaning(NamedTuple):
    """What a phrase stands for: a kind of item and, within the kind, a value."""

    kind: str
    value: str = ""


COLORS: Mapping[str, str] = {
    **dict.fromkeys(("green", "greens", "grn"), "g"),
    **dict.fromkeys(("blue", "blues", "blu", "bleu"), "b"),
    **dict.fromkeys(("red", "reds"), "r"),
    **dict.fromkeys(("yellow", "yellows", "yel", "ylw", "yell"), "y"),
    **dict.fromkeys(("orange", "oranges", "naranja", "orng", "orn"), "o"),
    **dict.fromkeys(("verde", "verdes"), "g"),
    **dict.fromkeys(("azul", "azules"), "b"),
    **dict.fromkeys(("rojo", "roja", "rojos"), "r"),
    **dict.fromkeys(("amarillo", "amarilla"), "y"),
}

SIZES: Mapping[str, str] = {
    **dict.fromkeys(
        ("small", "little", "tiny", "single", "mini", "short", "smaller", "1x1", "one-cell", "single-cell", "1-cell", "size 1",
         "size one", "single cell", "small sized", "single wide", "pequeño", "pequeña", "size small", "one-block", "one-slot",
         "single-slot", "single-block", "one-wide", "single-wide", "1-block", "1-wide", "1-slot", "narrow", "one-space",
         "one-by-one", "1-by-1", "one unit", "one-unit", "1-unit", "petite", "sm", "sml", "one-long"),
        "s",
    ),
    **dict.fromkeys(
        ("large", "big", "long", "double", "wide", "larger", "bigger", "2x1", "1x2", "two-cell", "double-cell", "2-cell", "size 2",
         "size two", "double wide", "double-wide", "double width", "double-width", "two cell wide", "grande", "size large",
         "two-slot", "double-slot", "two-wide", "2-wide", "two-block", "2-block", "2-slot", "two-unit", "double-length", "domino",
         "two-space", "huge", "two-by-one", "2-by-1", "one-by-two", "1-by-2", "two wide", "lengthy", "elongated", "lg", "lrg", "two-long"),
        "l",
    ),
}  # fmt: skip

BLOCK_NOUNS: Mapping[str, str | None] = {
    **dict.fromkeys(
        ("block", "blocks", "piece", "pieces", "brick", "bricks", "tile", "tiles", "cube", "cubes", "one", "ones", "bloque",
         "chunk", "unit", "blk", "blks", "lego", "box", "boxes"),
        None,
    ),
    **dict.fromkeys(("domino", "dominoes", "dominos"), "l"),
}  # fmt: skip

DETERMINERS = frozenset((
    "a", "an", "the", "that", "this", "those", "these", "another", "my", "our", "its", "existing", "current", "un",
    "una", "el", "all", "each", "any", "some", "new", "extra",
))  # fmt: skip
COUNTS: Mapping[str, int] = {"one": 1, "two": 2, "three": 3, "both": 2, "2": 2, "3": 3, "pair": 2}
ADJECTIVES = frozenset((
    "existing", "current", "new", "extra", "single", "same", "other", "wrong", "incorrect", "misplaced", "matching",
    "correct", "stray", "entire", "whole", "remaining", "old", "unwanted", "last", "final", "next", "also", "colored",
    "coloured", "color", "colour", "only", "solid", "plain", "of", "de",
))  # fmt: skip
CELL_NOUNS = frozenset((
    "cell", "cells", "corner", "corners", "edge", "end", "side", "spot", "spots", "slot", "slots", "position",
    "positions", "column", "columns", "place", "square", "squares", "space", "spaces", "hole", "field", "location",
    "locations", "section", "part", "third", "area", "region", "stack", "tower", "pile", "post",
))  # fmt: skip
LAYER_NOUNS = frozenset((
    "layer", "layers", "row", "rows", "tier", "tiers", "level", "levels", "floor", "course", "storey", "story", "line", "band", "stripe",
))  # fmt: skip
NUMERALS: Mapping[str, int] = {"0": 0, "1": 1, "2": 2, "zero": 0, "one": 1, "two": 2}

# Forms of a verb: base, gerund, participle; forms that are also nouns of this game stand in NOUN_LIKE of the lexer.
_VERBS: Mapping[str, tuple[str, ...]] = {
    "place": (
        "place placing placed", "put putting put", "add adding added", "drop dropping dropped", "set setting set",
        "stack stacking stacked", "install installing installed", "lay laying laid", "position positioning positioned",
        "insert inserting inserted", "build building built", "stick sticking stuck", "pop popping popped", "fill filling filled",
        "plop plopping plopped", "bring bringing brought", "give giving given", "get getting gotten", "throw throwing thrown",
        "use using used", "slot slotting slotted", "park parking parked", "start starting started", "finish finishing finished",
        "complete completing completed", "tuck tucking tucked", "plant planting planted", "seat seating seated",
        "slap slapping slapped", "plonk plonking plonked", "deploy deploying deployed",
        "include including included", "pick picking picked", "grab grabbing grabbed", "send sending sent", "make making made",
        "begin beginning begun", "mount mounting mounted", "nestle nestling nestled", "locate locating located",
        "situate situating situated", "affix affixing affixed", "arrange arranging arranged", "create creating created",
        "construct constructing constructed", "supply supplying supplied", "provide providing provided", "load loading loaded",
        "squeeze squeezing squeezed", "deposit depositing deposited", "append appending appended",
        "assemble assembling assembled", "attach attaching attached", "apply applying applied",
        "extend extending extended", "anchor anchoring anchored", "establish establishing established",
        "introduce introducing introduced", "continue continuing continued",
        "colocar colocando colocado", "pon poniendo puesto", "coloca ponga coloque", "placé pongan colocad",
    ),
    "remove": (
        "remove removing removed", "take taking taken", "clear clearing cleared", "lift lifting lifted", "pull pulling pulled",
        "delete deleting deleted", "erase erasing erased", "discard discarding discarded", "eliminate eliminating eliminated",
        "unstack unstacking unstacked", "strip stripping stripped", "ditch ditching ditched", "toss tossing tossed",
        "dismantle dismantling dismantled", "break breaking broken", "undo undoing undone", "detach detaching detached", "lose losing lost",
        "extract extracting extracted", "withdraw withdrawing withdrawn", "knock knocking knocked", "yank yanking yanked",
        "tear tearing torn",
        "strike striking struck", "scrap scrapping scrapped", "dispose disposing disposed", "cancel cancelling cancelled",
        "revert reverting reverted", "retract retracting retracted", "purge purging purged", "evict evicting evicted",
        "uninstall uninstalling uninstalled", "dislodge dislodging dislodged", "demolish demolishing demolished",
    ),
    "replace": (
        "replace replacing replaced", "swap swapping swapped", "change changing changed", "exchange exchanging exchanged",
        "switch switching switched", "substitute substituting substituted", "convert converting converted",
        "turn turning turned", "trade trading traded", "upgrade upgrading upgraded",
    ),
    "move": ("move moving moved", "slide sliding slid", "shift shifting shifted", "relocate relocating relocated",
             "transfer transferring transferred", "push pushing pushed"),
    "keep": ("keep keeping kept", "leave leaving left-behind", "maintain maintaining maintained", "preserve preserving preserved",
             "retain retaining retained", "stay staying stayed", "remain remaining remained"),
    "cap": ("cap capping capped", "crown crowning crowned"),
    "fix": ("fix fixing fixed", "correct-it correcting corrected", "address addressing addressed", "sort sorting sorted",
            "adjust adjusting adjusted"),
}  # fmt: skip

_PLAIN: Mapping[Meaning, str] = {
    Meaning("act_base", "remove"): (
        "rm|del|off with|say goodbye to|tear down|rip off|knock down|dispose of|get rid of|take off|take away|take out|take down"
        "|lift off|lift out|pull off|pull out|clear away|clear out|clear off"
        "|pop off|knock off|drop the idea of|getting rid of|taking off|taking away|lifting off|pulling off|strip off"
        "|throw out|throw away|pick up|peel off|do away with|doing away with|get off|wipe out|remove off|chuck out|rip out|take back"
    ),
    Meaning("act_ed", "remove"): (
        "torn down|torn off|ripped out|disposed of|taken off|taken away|taken out|lifted off|pulled off|cleared away|gone"
        "|gotten rid of|pulled out|off the board|taken down"
    ),
    Meaning("act_ing", "remove"): "removal of|removal|the removal of",
    Meaning("act_ed", "place"): "someone put|somebody put|they put|was put|were put|has put",
    Meaning("state", "except"): "except for|except|apart from|aside from|other than",
    Meaning("target"): (
        "plan|picture|solution|drawing|drawings|design|diagram|schematic|reference|target|goal|blueprint|target wall"
        "|target view|what i want"
    ),
    Meaning("board"): "board|current state|current wall|current view|current board",
    Meaning("act_base", "place"): (
        "ins|finish off|round off|start off with|kick off with|start with|finish with|begin with|go with|put down|set down"
        "|put in|drop in|slot in|pop in|go ahead with|end with"
        "|continue with|fill in|fill up|build up|get started with"
    ),
    Meaning("act_base", "replace"): "swap out|swap in|change out|switch out|trade out|swap over",
    Meaning("go_away"): (
        "has no place|have no place|comes off|comes out|comes down|must come down|has to come down|needs to come down"
        "|should come down|goes away"
        "|has to go|have to go|needs to go|need to go|must go|should go|has to come off|needs to come off|should come off"
        "|must come off|has to come out|needs to come out|should come out|have to come off|does not belong|do not belong"
        "|should not be|must not be|has no business|needs to leave|ought to go|is blocking|is in the way"
        "|is not supposed to be|is extra|is not needed|should leave|has to leave|to be gone|can go|have to come out"
    ),
    Meaning("belong"): (
        "find its way|find its home|find a home|make its way|take its place|come to rest|end up|should have gone|ought to have gone"
        "|should have been placed|should have been put|settle|sit down|needs to be at|slots in|slips in|nestles|goes"
        "|belongs|belong|would fill|would go|would fit|could go|would complete|should sit|should go on|needs to sit"
        "|should rest|should span|should stretch|should cover|needs to span|should run|should occupy|should extend|must go in"
        "|should fill|needs to fill|should follow|should come|needs to cover|must sit|must span|should lie|comes next|go next"
        "|goes next|fits|is next for|needs to go in|should go in|should go at|needs to go on|needs to go at|has to go in"
        "|has to go on|has to go at"
    ),
    Meaning("need"): (
        "i picture|i imagine|i envision|dreaming of|dream of|longing for|long for|craving|crave|yearn for|time for"
        "|it is time for|most urgent thing is|urgent thing is|next move is|next step is|next thing is|next up is|next up"
        "|next piece is"
        "|next is|my request is|my suggestion is|priority is|need|needs|want|wants|require|requires|would like|would love"
        "|would like to see|would love to see|like to see|love to see|hope to see|expect to see|missing|lacks|lacking|lack"
        "|looking for|look for|asks for|ask for|calls for|call for|target has|target shows|target is|target needs"
        "|target wants|should have|should contain|there should be|should hold|must have|must contain|should show"
        "|needs to have|needs to contain|could use|waiting for|short of|needed|required|is absent|absent|supposed to have"
        "|supposed to contain|expect|expects|expecting|ought to have|there must be|there needs to be|requesting|request"
        "|me happy to see|me very happy to see|me so happy to see|would make me|would make my day|would delight me"
        "|would please me|wanting is|missing is|lacking is|thing left is|piece left is"
        "|remaining is|left to place is|remaining piece is|left to do is|dreamed of|dreams of|wishes for|hungers for|thirsts for|pines for"
        "|begs for|cries for|deserves|welcomes|invites|awaits|could do with|would benefit from|would welcome|hope for"
        "|there is room for|is room for|has room for|room for|space for|should be occupied by|should be filled with"
        "|should be filled by|let me have|let us have|may i have|could i have"
        "|can i have|can we have|could we have|i am after|would rather have|rather have|prefer to have"
        "|leaning toward|leaning towards|inclined to ask for|torn toward"
        "|hoping for|waiting on|all i need is|still want|is wanted|prefer|to have|should start with|wish for|has to have"
        "|target says|wanted|still open for|calling for|asking for|should see|would be|must be filled with|hope for"
        "|shows a gap for|should receive|should get|still to come|is due|due|begging for|crying out for|cries out for"
        "|in need of|still wants|should get|is to get|need to see|want to see|needs to start with"
        "|have to have|should be having"
    ),
    Meaning("should"): (
        "should be|can be|could be|may be|will be|must be|needs to be|need to be|ought to be|supposed to be|has to be"
        "|have to be|should become"
        "|should instead be|needs to become|should actually be|should now be|should really be|should rather be|want it to be"
        "|shall be|to be|should still be|gets"
    ),
    Meaning("state"): (
        "see that|see|sees|notice|noticed|seeing|there is|there are|have|has|is|are|was|were|shows|show|having|contains|holds"
        "|notice that|has got|currently|am|appears|looks|look|appear|observed|had|showing|reads|noticing|find|sits"
        "|stands|lies|resides|lives|dwells"
    ),
    Meaning("confirm"): (
        "as it should be|as they should be|as it should|as needed|as expected|as planned|as intended|as required"
        "|already right|already correct|already done|correct|perfect|good|great|fine|in place|all set|complete|done|matches"
        "|match|aligned|ok|okay|finished|looks good|is right|are right|looks right|look right|already there|perfectly"
        "|correctly|properly|solid|spot on|is set|are set|as requested|is finished|is done|settled|matched|satisfied|nailed"
        "|successfully"
    ),
    Meaning("wrong"): (
        "wrong color|wrong colour|wrong size|wrong block|wrong piece|wrong|incorrect|mismatch|mismatched|misplaced"
        "|is not right|are not right|problem|issue|issues|is off|are off"
        "|looks off|seems off|cluttered|mess|bothers|differs|not aligning|not in my target|not part of my target"
        "|not in the target|not part of the target|does not match|do not match|does not fit|mistake"
        "|error|causing|rejected|declined|vetoed|overruled"
    ),
    Meaning("empty"): "empty|bare|open|vacant|unfilled|nothing there|free|blank|uncovered|nothing sits|nothing on|nothing",
    Meaning("ensure"): "ensure|make sure|be sure|double check|ensuring|making sure|verify|see to it|check that|confirm that|confirm",
    Meaning("not"): (
        "makes no sense|make no sense|no sense in|no reason to|no reason for|no point in|by no means"
        "|under no circumstances|on no account|in no way|anything but|stop putting|stop placing|stop adding"
        "|stop asking for|wrong to|pointless to|too early to|too soon to|too early for|too soon for"
        "|wait with|hold the|postpone|i am against|not|never|avoid|without|rather not|hold off"
        "|instead of placing|refrain|nobody"
    ),
    Meaning("between"): "between|in between|sandwiched between",
    Meaning("needless"): (
        "no longer|no need|need not|not necessary|cannot|can not|could not|unable to|did not|have not|was not|were not|not able|not ready"
    ),
    Meaning("cond"): "once|after|when|as soon as|now that|upon",
    Meaning("if"): "if|whether|assuming|in case",
    Meaning("before"): "before|prior to|until|unless",
    Meaning("purpose"): (
        "so that|so we can|so i can|so you can|allow us|allows us|allowing us|lets us|in order|so that we|makes room"
        "|make room|we can|i can|you can|this will|that will|this would|which will|this lets|that way|this way|will help"
        "|opens up|enables us|would let us|so"
    ),
    Meaning("first"): (
        "before that|but before that|before this|prior to that|beforehand|before anything else|before all else|first"
        "|firstly|first off|first of all|start by|starting by|begin by|beginning by|start off by|immediately|priority"
        "|to start|to begin|initially"
    ),
    Meaning("then"): (
        "then|next|afterwards|afterward|followed by|after that|later|finally|lastly|subsequently|second|secondly|third|also"
        "|additionally|once that is done|when that is done|after this|besides|as well as"
    ),
    Meaning("and"): "and|&|y|or|plus",
    Meaning("but"): "but|however|yet|though|although|while|whereas",
    Meaning("because"): "because|since|as we|as i",
    Meaning("where"): "where|which",
    Meaning("with"): "with|by|for|to|into|against|in favor of|in exchange for|con",
    Meaning("off"): "off",
    Meaning("from"): "from|out of",
    Meaning("prep"): (
        "in|on|at|across|over|spanning|covering|so that it covers|so it covers|so that it spans|so it spans|that covers"
        "|that spans|which covers|which spans|covers|spans|so that it stretches|reaching|along|within|inside|under my|through"
        "|onto|en"
    ),
    Meaning("subject"): (
        "why not|how about we|what if we|how about you|i|we|you|lets|let us|please|builder|can you|could you|can we|could we"
        "|would you|go ahead and|kindly"
    ),
    Meaning("instead_of"): "instead of|rather than|in place of|as opposed to",
    Meaning("arrow"): ">|->|-->|=>|==>",
    Meaning("instead"): "instead",
    Meaning("order", "lr"): "from left to right|left to right|left-to-right|going right|reading rightwards",
    Meaning("order", "rl"): "from right to left|right to left|going left",
    Meaning("order", "up"): "from bottom to top|bottom to top|from the bottom up|bottom up|from the ground up|going up|upwards",
    Meaning("order", "down"): "from top to bottom|top to bottom|from the top down|top down|going down|downwards",
    Meaning("respectively"): "respectively|in that order|in this order|in the same order",
    Meaning("repair"): (
        "no wait|wait no|wait|sorry|i mean|i meant|scratch that|correction|make that|or rather|my mistake|my bad|oops|hang on|hold on"
        "|let me correct myself|let me rephrase|no sorry|no make that|strike that|let me fix that"
    ),
    Meaning("retract"): (
        "do not act on it|do not act on that|do not act on this|act on it|act on that|act on this|forget it|forget that"
        "|only a thought|just a thought|just thinking aloud|never mind that"
        "|ignore that|disregard that|disregard this|ignore this|not a request|no request"
    ),
    Meaning("void"): (
        "i take back|i withdraw|i retract|i revoke|doubt that|doubt|false that|not true that|whether|wonder if"
        "|wondering if|not sure if|unsure if|thanks for"
        "|thank you for|thanks again for|do not execute"
        "|do not act on|do not follow|ignore|disregard|was going to|were going to|was about to|was tempted to"
        "|considered"
        "|thought about|thought of|had i|were i|if i had|would have been|could have been|might have been|for instance"
        "|for example|withdraw what|forget about"
        "|take back what|retract what|withdraw my|retract my|cancel my|cancel the request|revoke my|revoke the"
        "|earlier i asked for|hypothetically"
        "|in theory|suppose|supposing|imagine|what if the|had there been"
    ),
    Meaning(
        "act_base", "pass"
    ): "skip|forget|never mind|pass over|do not touch|do not care about|do not bother with|do not worry about|hands off",
    Meaning("on_top"): (
        "on top of|atop|to sit on|sits on|sit on|rests on|to rest on|to go on top of|go on top of|directly on top of"
        "|right on top of|directly above|right above|just above|above|over the top of|sitting on|resting on|stacked on"
        "|stacked over|stacked above|stacked on top of|piled on|piled over|onto the top of|over top of"
    ),
    Meaning("below"): "below|beneath|underneath|under|directly below|right below|directly under|at the foot of",
    Meaning("next_to"): (
        "next to|beside|adjacent to|alongside|right next to|neighboring|neighbouring|directly next to|just next to"
        "|immediately next to|by the side of"
    ),
    Meaning("top_of"): "on top|from the top|at the top|very top",
    Meaning("there"): (
        "there|here|same spot|same cell|same place|same position|that spot|that specific spot|that particular spot|that cell"
        "|that corner|that place|this spot|this cell|that position|this corner|this position|that column|this column"
        "|the column|that one spot|its place|its spot|that slot|same slot|same corner|that space|that gap|that hole"
        "|that stack|that square|its stead|that tower|that pile|that end|that edge"
    ),
    Meaning("same_layer"): "that row|that layer|same layer|same row|this layer|this row|that level|same level|same tier|that tier",
    Meaning("pron"): "it|them|they|that|those|this|these|its|lo",
    Meaning("rest"): "the rest|remaining two|remaining cells|other two|other two cells",
    Meaning("whole"): (
        "everything|all of it|whole wall|entire wall|all blocks|all of them|whole board|entire board|start over|from scratch"
    ),
    Meaning("ask"): "what|which of|who|do you|does anyone|does d1|does d2|does d3|are there|is anyone|is there|how about you|anyone",
    Meaning("skip"): (
        "back and forth|to be clear|appreciate it if|grateful if|great if|lovely if|nice if|good if|wonderful if|happy if"
        "|like it if|love it if|glad if|pleased if|delighted if|helpful if|perfect if|obliged if|thankful if|take care"
        "|not only|not just|not sure|not certain|take a look|take a moment|take note|taken into account"
        "|take into account|taking into account|looks like"
        "|look like|seems like|it looks|it seems|appears that|shows that|indicates that|mentioned|right order|right place"
        "|right track|all right|for granted|nothing left|left to do"
        "|left for me|is left|are left|left to add|the way|clear path|go ahead|right away|right side up|right block"
        "|right piece|right color|right colour|at first|first thing|the first thing|from the start|big picture|in one picture"
        "|clear that|crystal clear|is clear|so far|by the way|in the way|long as|top priority|for now|pull together"
        "|take turns|take the last step|drop by|on the other hand|as long as|for long|before long|step by step"
        "|one by one|one at a time|one step|one more thing|one thing|first step|next step|last step|one clear|base my"
        "|based on|the only one|in place of my|putting it all|put together|putting together|set up|sets up|setting up"
        "|moving on|move on|next move|last move|first move|leave it to|leave that to|leave the rest|let me see|at once|no one"
        "|everyone|the last one|that last one|this one|that one is|add up|keep in mind|keep it|keep things|keep coming"
        "|keep going|keep an eye|go over|going over|go through|changes nothing|follow the|remains|start building|start from|build my"
        "|build on|building on|rebuild|clear the path|clear the way|clear the space|clearing the path|clearing the way"
        "|clear a path|clear space|clear up|clearing things|get the alignment|getting|get to|get back|make it|making it"
        "|make this|make my|gives|give us|give me a moment|use the|use my|make progress|make any sense|try to|trying to|tries"
        "|complete my|finish my|go back|in front of|a bit|set the foundation|set a solid|set my|set our|set things"
        "|setting the|sets the|set the stage|set us"
    ),
}


def _phrases() -> dict[tuple[str, ...], Meaning]:
    table: dict[tuple[str, ...], Meaning] = {}
    for verb, rows in _VERBS.items():
        for row in rows:
            base, gerund, participle = row.split()
            table[participle,] = Meaning("act_ed", verb)
            table[gerund,] = Meaning("act_ing", verb)
            table[base,] = Meaning("act_base", verb)
            third = base + ("es" if base.endswith(("s", "x", "ch", "sh", "o")) else "s")
            table.setdefault((third,), Meaning("act_base", verb))
    for meaning, phrases in _PLAIN.items():
        for phrase in phrases.split("|"):
            table[tuple(phrase.split())] = meaning
    return table


PHRASES: Mapping[tuple[str, ...], Meaning] = _phrases()

TYPO_TARGETS: tuple[str, ...] = (
    *[
        "green",
        "blue",
        "yellow",
        "orange",
        "small",
        "little",
        "large",
        "left",
        "right",
        "middle",
        "center",
        "centre",
        "bottom",
        "corner",
        "layer",
        "block",
        "blocks",
    ],
    *["place", "remove", "replace", "position", "leftmost", "rightmost", "spanning", "across", "foundation", "upper", "second", "third"],
)
"""Words whose slips of the finger (one letter lost, doubled or swapped with its neighbour) are mended."""
