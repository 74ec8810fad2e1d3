# SPDX-License-Identifier: Apache-2.0
"""What is what in `scipy.ndimage`: SciPy's functions that are rebuilt, passive and refused ones."""

from __future__ import annotations

__all__ = ["REBUILT", "REFUSED", "RULED", "STEPS", "WITHOUT_VALUES"]

RULED: dict = {}
# Rebuilt functions, each with the arguments that may be active, None for all.
REBUILT: dict[str, tuple | None] = {
    **dict.fromkeys((
        "affine_transform", "black_tophat", "center_of_mass", "convolve", "convolve1d", "correlate", "correlate1d",
        "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace",
        "generic_gradient_magnitude", "generic_laplace", "grey_closing", "grey_dilation", "grey_erosion",
        "grey_opening", "laplace", "map_coordinates", "maximum", "maximum_filter", "maximum_filter1d", "mean", "median",
        "median_filter", "minimum", "minimum_filter", "minimum_filter1d", "morphological_gradient",
        "morphological_laplace", "percentile_filter", "prewitt", "rank_filter", "rotate", "shift", "sobel",
        "spline_filter", "spline_filter1d", "standard_deviation", "sum", "sum_labels", "uniform_filter",
        "uniform_filter1d", "variance", "white_tophat",
    )),
    "zoom": ("input", "output"),      # SciPy calls it with parts of an output for complex images
}  # fmt: skip
# What gives masks, counts, labels and places, so that its slope is zero.
STEPS = frozenset((
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "histogram", "label", "maximum_position", "minimum_position", "value_indices",
    "watershed_ift",
))  # fmt: skip
WITHOUT_VALUES = frozenset(("find_objects", "generate_binary_structure", "iterate_structure"))  # of labels and masks
_DISTANCES = "it is constant but where the mask changes: take the mask of `codipy.value(x)`"
REFUSED = {
    **dict.fromkeys(("distance_transform_bf", "distance_transform_cdt", "distance_transform_edt"), _DISTANCES),
    **{name: f"multiply with the factors, `{name}(np.ones(x.shape), ...)`"
       for name in ("fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform")},
    "extrema": "take `scipy.ndimage.minimum` and `maximum`, `minimum_position` and `maximum_position`",
    "generic_filter": "compute with `np.lib.stride_tricks.sliding_window_view` of an array with its edges",
    "generic_filter1d": "compute with `np.lib.stride_tricks.sliding_window_view` of an array with its edges",
    "geometric_transform": "take `scipy.ndimage.map_coordinates`, and the coordinates that the mapping gives",
    "labeled_comprehension": "loop over the labels, and call the function with `x[labels == k]`",
    "vectorized_filter": "compute with `np.lib.stride_tricks.sliding_window_view` of an array with its edges",
}  # fmt: skip
