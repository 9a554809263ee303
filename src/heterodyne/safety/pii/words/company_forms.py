"""Words at the end of a company's name."""

from typing import Final

from heterodyne.safety.pii.words.word_set import word_set

FORMS: Final = word_set(
    """
    AB AG AS ASA Airlines Analytics Associates BV Bank Capital Clinic Co. College Company Consulting Corp Corp.
    Corporation Energy Foundation Global GmbH Group Health Healthcare Holdings Hospital Inc Inc. Industries
    Institute Insurance International Investments LLC LLP LP Labs Limited Ltd Ltd. Media Motors NV Networks Oy OÜ
    PLC Partners Pharmaceuticals Plc SA SRL Services Software Solutions Sons SpA Systems Technologies University
    Ventures
    """
)
