"""torchvision beside a torch that it was not compiled for, where its operators are missing.

No processor uses them, but at its import two of them have to be declared.
"""

from importlib.util import find_spec

import torch

HAS_TORCHVISION = find_spec("torchvision") is not None

if HAS_TORCHVISION:
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
