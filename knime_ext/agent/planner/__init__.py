"""A planner made of rules: from the words of a question and the schemas of tools to the next calls.

It is no language model. It compares words, fills arguments by type, name and place in the sentence, and chains tools
by what they need. That is enough for demonstrations, tests and first steps, and it always gives the same plan.
"""

from knime_ext.agent.planner.moves import Move, PlannedCall, next_move

__all__ = ["Move", "PlannedCall", "next_move"]
