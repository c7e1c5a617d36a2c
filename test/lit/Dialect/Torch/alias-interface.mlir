// What TorchSchemaOpInterface and the memory effects say of each kind of op.
// RUN: ssa-opt-test %s --test-print-torch-aliasing --verify-diagnostics --split-input-file

func.func @in_place(%x: !torch.tensor, %one: !torch.int) {
  // expected-remark @below {{torch.aten.add_.Tensor writes: 0; aliases: 0->0; functional: torch.aten.add.Tensor; effects: read(operand 0) write(operand 0) read(operand 1)}}
  %0 = torch.aten.add_.Tensor %x, %x, %one : !torch.tensor, !torch.tensor, !torch.int -> !torch.tensor
  // Its functional form gives bool, which is that of self only if self is bool (`keptKinds`).
  // expected-remark @below {{torch.aten.eq_.Scalar writes: 0; aliases: 0->0; functional: torch.aten.eq.Scalar; effects}}
  %1 = torch.aten.eq_.Scalar %x, %one : !torch.tensor, !torch.int -> !torch.tensor
  // Known, though no op of the dialect; an op without a schema may do everything.
  // expected-remark @below {{torch.aten.t_ writes: 0; aliases: 0->0; effects: read(operand 0) write(operand 0)}}
  %2 = torch.operator "torch.aten.t_"(%x) : (!torch.tensor) -> !torch.tensor
  // expected-remark @below {{torch.my.op_ (no schema) writes: 0; aliases: 0->0; effects: read write}}
  %3 = torch.operator "torch.my.op_"(%x) : (!torch.tensor) -> !torch.tensor
  return
}

// -----

func.func @fresh(%x: !torch.tensor, %v: !torch.vtensor, %one: !torch.int) {
  // expected-remark @below {{torch.aten.add.Tensor writes:; aliases:; effects: read(operand 0) read(operand 1) allocate(result 0)}}
  %0 = torch.aten.add.Tensor %x, %x, %one : !torch.tensor, !torch.tensor, !torch.int -> !torch.tensor
  // expected-remark @below {{torch.aten.add.Tensor writes:; aliases:; effects:}}
  %1 = torch.aten.add.Tensor %v, %v, %one : !torch.vtensor, !torch.vtensor, !torch.int -> !torch.vtensor
  return
}

// -----

func.func @views(%x: !torch.tensor, %v: !torch.vtensor, %one: !torch.int) {
  // expected-remark @below {{torch.aten.select.int writes:; aliases: 0->0; effects: read(operand 0)}}
  %0 = torch.aten.select.int %x, %one, %one : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
  // An immutable tensor aliases nothing.
  // expected-remark @below {{torch.aten.select.int writes:; aliases:; effects:}}
  %1 = torch.aten.select.int %v, %one, %one : !torch.vtensor, !torch.int, !torch.int -> !torch.vtensor
  // PyTorch's schema does not say that the result may be the argument.
  // expected-remark @below {{torch.aten.type_as writes:; aliases: 0->0;}}
  %2 = torch.aten.type_as %x, %x : !torch.tensor, !torch.tensor -> !torch.tensor
  // expected-remark @below {{torch.tensor_static_info_cast writes:; aliases: 0->0; effects:}}
  %3 = torch.tensor_static_info_cast %x : !torch.tensor to !torch.tensor<[2],f32>
  return
}

// -----

func.func @lists(%l: !torch.list<tensor>, %x: !torch.tensor, %i: !torch.int) {
  // The list refers to the element afterwards.
  // expected-remark @below {{torch.aten.append.t writes: 0; aliases: 0->0 0->1; effects: read write read(operand 0) write(operand 0) read(operand 1)}}
  %0 = torch.aten.append.t %l, %x : !torch.list<tensor>, !torch.tensor -> !torch.list<tensor>
  // expected-remark @below {{torch.aten.__getitem__.t writes:; aliases: 0->0; effects: read read(operand 0)}}
  %1 = torch.aten.__getitem__.t %l, %i : !torch.list<tensor>, !torch.int -> !torch.tensor
  return
}

// -----

func.func @operators(%x: !torch.tensor, %i: !torch.int) {
  // expected-remark @below {{torch.aten.sinc_ writes: 0; aliases: 0->0; functional: torch.aten.sinc; effects}}
  %0 = torch.operator "torch.aten.sinc_"(%x) {tssa.schema = "aten::sinc_(Tensor(a!) self) -> Tensor(a!)"} : (!torch.tensor) -> !torch.tensor
  // Looked up by name, and without the prefix.
  // expected-remark @below {{torch.aten.sinc_ writes: 0; aliases: 0->0; functional: torch.aten.sinc; effects}}
  %1 = torch.operator "aten.sinc_"(%x) : (!torch.tensor) -> !torch.tensor
  // expected-remark @below {{torch.my.op (no schema) writes: 0; aliases: 0->0; effects: read write}}
  %2 = torch.operator "torch.my.op"(%x, %i) : (!torch.tensor, !torch.int) -> !torch.tensor
  // The table knows better than the text that atleast_3d may return its argument.
  // expected-remark @below {{torch.aten.atleast_3d writes:; aliases: 0->0; effects: read(operand 0)}}
  %3 = torch.operator "torch.aten.atleast_3d"(%x) {tssa.schema = "aten::atleast_3d(Tensor self) -> Tensor"} : (!torch.tensor) -> !torch.tensor
  return
}
