"""Results of a compilation as frozen data that `report.json` holds.

Data and JSON only; `report.text` renders it for people.
"""

from edgec.base.given_files import BUNDLE_JSON, REPORT_JSON
from edgec.report.model.accuracy import (
    CalibrationReport,
    DecisionsReport,
    EstimateReport,
    Int16Report,
    LossReport,
    finite,
)
from edgec.report.model.camera import CameraReport
from edgec.report.model.checks import CheckReport, QdqFileReport, QdqReport, TensorGap
from edgec.report.model.front_end import FrontEndReport
from edgec.report.model.layers import COLLECTS, GrowthReport, LayerReport, PooledLayerReport
from edgec.report.model.memory import (
    BufferReport,
    MemoryReport,
    PlacementReport,
    RamWeightsReport,
)
from edgec.report.model.report import SCHEMA, Report
from edgec.report.model.rows import RowsPoint, RowsReport
from edgec.report.model.speed import SpeedReport, TunedReport
from edgec.report.model.stream import StreamReport
from edgec.report.model.tensors import TensorReport

__all__ = [
    "BUNDLE_JSON",
    "COLLECTS",
    "REPORT_JSON",
    "SCHEMA",
    "BufferReport",
    "CalibrationReport",
    "CameraReport",
    "CheckReport",
    "DecisionsReport",
    "EstimateReport",
    "FrontEndReport",
    "GrowthReport",
    "Int16Report",
    "LayerReport",
    "LossReport",
    "MemoryReport",
    "PlacementReport",
    "PooledLayerReport",
    "QdqFileReport",
    "QdqReport",
    "RamWeightsReport",
    "Report",
    "RowsPoint",
    "RowsReport",
    "SpeedReport",
    "StreamReport",
    "TensorGap",
    "TensorReport",
    "TunedReport",
    "finite",
]
