"""What PyTorch's schemas do not say, or say wrongly: the hand-written input of gen_torch_ops.py.

Each entry carries its reason. A test runs the ops and fails when one shares storage without an annotation and is not
listed here.
"""

from __future__ import annotations

# Registered ops whose schemas are not in PyTorch's registry of this process.
HAND_SCHEMAS: dict[str, tuple[str, str]] = {
    # op: (schema, reason)
    "torch.torchvision.deform_conv2d": (
        "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
        "int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, "
        "bool use_mask) -> Tensor",
        "torchvision registers its ops itself, and is not a dependency",
    ),
    "torch.torchvision.nms": (
        "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "torchvision registers its ops itself, and is not a dependency",
    ),
    "torch.torchvision.roi_align": (
        "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
        "int sampling_ratio, bool aligned) -> Tensor",
        "torchvision registers its ops itself, and is not a dependency",
    ),
    "torch.torchvision.roi_pool": (
        "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) "
        "-> (Tensor, Tensor)",
        "torchvision registers its ops itself, and is not a dependency",
    ),
    "torch.quantized_decomposed.quantize_per_tensor": (
        "quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
        "int quant_max, ScalarType dtype) -> Tensor",
        "registered only once torch.ao.quantization is imported",
    ),
    "torch.quantized_decomposed.dequantize_per_tensor": (
        "quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
        "int quant_max, ScalarType dtype, ScalarType? out_dtype) -> Tensor",
        "registered only once torch.ao.quantization is imported",
    ),
    "torch.quantized_decomposed.quantize_per_channel": (
        "quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
        "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
        "registered only once torch.ao.quantization is imported",
    ),
    "torch.quantized_decomposed.dequantize_per_channel": (
        "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
        "int quant_min, int quant_max, ScalarType dtype, ScalarType? out_dtype) -> Tensor",
        "registered only once torch.ao.quantization is imported",
    ),
    "torch.quantized_decomposed.quantize_per_channel_group": (
        "quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, "
        "int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor",
        "registered only once torch.ao.quantization is imported; torch-mlir's result type is one tensor",
    ),
    "torch.quantized_decomposed.dequantize_per_channel_group": (
        "quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, "
        "int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor",
        "registered only once torch.ao.quantization is imported",
    ),
    "torch.onnx.rotary_embedding": (
        "onnx::rotary_embedding(Tensor input, Tensor position_ids, Tensor cos_cache, Tensor sin_cache, "
        "int interleaved, int is_packed_batching, int num_heads, int rotary_embedding_dim, float scale) -> Tensor",
        "torch-mlir's own op",
    ),
    "torch.valsem.aten.bernoulli.float": (
        "valsem::aten.bernoulli.float(Tensor self, float p, Generator? generator) -> Tensor",
        "torch-mlir's own op: the functional form of bernoulli_.float, which PyTorch does not have under that name",
    ),
    "torch.per_tensor_affine.create": (
        "per_tensor_affine::create(Tensor int_repr, float scale, int offset) -> Tensor",
        "torch-mlir's own op",
    ),
}

_SAME_OBJECT = "TorchScript gives the operand itself, or what it refers to, a new type"
_MAY_RETURN_SELF = "returns its argument, or a view of it, when there is nothing to do"

# Alias annotations that PyTorch's schema lacks.
ALIAS_ANNOTATIONS: dict[str, tuple[str, str]] = {
    # op: (schema, reason)
    "torch.prim.unchecked_cast": ("prim::unchecked_cast(t(a) x) -> t(a)", _SAME_OBJECT),
    "torch.prim.TupleIndex": ("prim::TupleIndex(Any(a) tup, int i) -> Any(a)", _SAME_OBJECT),
}

# Ops that may return an argument (or a view of one) unannotated: the first tensor argument and every tensor result get
# the annotation `(a)`.
UNANNOTATED_ALIASES: dict[str, str] = {
    "torch.aten._cast_Float": _MAY_RETURN_SELF,
    "torch.aten._cast_Long": _MAY_RETURN_SELF,
    "torch.aten._saturate_weight_to_fp16": _MAY_RETURN_SELF,
    "torch.aten._to_cpu": _MAY_RETURN_SELF,
    "torch.aten._unsafe_view": "a view, meant for callers that drop the argument",
    "torch.aten.alpha_dropout": "returns its argument when train is false",
    "torch.aten.atleast_1d": _MAY_RETURN_SELF,
    "torch.aten.atleast_1d.Sequence": _MAY_RETURN_SELF,
    "torch.aten.atleast_2d": _MAY_RETURN_SELF,
    "torch.aten.atleast_2d.Sequence": _MAY_RETURN_SELF,
    "torch.aten.atleast_3d": _MAY_RETURN_SELF,
    "torch.aten.atleast_3d.Sequence": _MAY_RETURN_SELF,
    "torch.aten.broadcast_tensors": "the results are expanded views",
    "torch.aten.cartesian_prod": _MAY_RETURN_SELF,
    "torch.aten.conj_physical": _MAY_RETURN_SELF,
    "torch.aten.cumprod_backward": _MAY_RETURN_SELF,
    "torch.aten.data": "a view without gradient",
    "torch.aten.dequantize.self": _MAY_RETURN_SELF,
    "torch.aten.dequantize.tensor": _MAY_RETURN_SELF,
    "torch.aten.dropout": "returns its argument when train is false",
    "torch.aten.einsum": "a permutation or diagonal of one operand is a view",
    "torch.aten.feature_alpha_dropout": "returns its argument when train is false",
    "torch.aten.feature_dropout": "returns its argument when train is false",
    "torch.aten.flatten_dense_tensors": _MAY_RETURN_SELF,
    "torch.aten.lift": _MAY_RETURN_SELF,
    "torch.aten.meshgrid": "the results are expanded views",
    "torch.aten.meshgrid.indexing": "the results are expanded views",
    "torch.aten.sum_to_size": _MAY_RETURN_SELF,
    "torch.aten.to_dense": _MAY_RETURN_SELF,
    "torch.aten.to_dense_backward": _MAY_RETURN_SELF,
    "torch.aten.to_mkldnn_backward": _MAY_RETURN_SELF,
    "torch.aten.type_as": _MAY_RETURN_SELF,
    "torch.aten.unflatten_dense_tensors": "the results are views of the flat tensor",
    "torch.aten.unsafe_chunk": "views, meant for callers that drop the argument",
    "torch.aten.unsafe_split.Tensor": "views, meant for callers that drop the argument",
    "torch.aten.unsafe_split_with_sizes": "views, meant for callers that drop the argument",
    "torch.prims.device_put": _MAY_RETURN_SELF,
}

# Functional forms whose name does not follow from that of the in-place op.
FUNCTIONAL_NAMES: dict[str, str] = {
    "torch.aten.bernoulli_.float": "torch.aten.bernoulli.p",
    "torch.aten.normal_": "torch.aten.normal_functional",
}

# In-place ops whose functional form could not be run, but is known to be right: the kinds of dtypes it keeps, the
# reason.
TRUSTED_FUNCTIONAL: dict[str, tuple[str, str]] = {}

# In-place ops that must not be given a functional form although one of the right name and types exists.
NO_FUNCTIONAL: dict[str, str] = {
    "torch.aten.set_": "replaces the storage: what it writes is not the contents",
}
