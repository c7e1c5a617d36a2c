// Ops that describe the object graph of a scripted program: classes, module instances, global slots. ssa-compiler's own
// importer does not make them; they are here so that torch-mlir's IR is read and written unharmed.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHMODULEOPS_TD
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHMODULEOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ssa-compiler/Dialect/Torch/IR/TorchTypes.td"

def Torch_NnModuleOp
    : Torch_Op<"nn_module", [SingleBlockImplicitTerminator<"::ssa_compiler::torch::NnModuleTerminatorOp">]> {
  let summary = "makes an instance of a class of module";
  let description = [{
    The region lists the initial value of each attribute as a `torch.slot`, in the order of the `torch.attr` ops of the
    `torch.class_type` that the result type names.
    ```mlir
    %m = torch.nn_module {
      torch.slot "weight", %w : !torch.tensor
    } : !torch.nn.Module<"Linear">
    ```
  }];
  let results = (outs Torch_NnModuleType:$result);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$region attr-dict `:` qualified(type($result))";
}

def Torch_NnModuleTerminatorOp
    : Torch_Op<"nn_module_terminator", [Terminator, HasParent<"::ssa_compiler::torch::NnModuleOp">]> {
  let summary = "ends a torch.nn_module";
  let assemblyFormat = "attr-dict";
}

def Torch_SlotOp : Torch_Op<"slot", [HasParent<"::ssa_compiler::torch::NnModuleOp">]> {
  let summary = "gives one attribute of a torch.nn_module its initial value";
  let arguments = (ins StrAttr:$name, AnyTorchType:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` qualified(type($value))";
}

def Torch_ClassTypeOp
    : Torch_Op<"class_type", [Symbol,
                              SingleBlockImplicitTerminator<"::ssa_compiler::torch::ClassTypeTerminatorOp">]> {
  let summary = "declares a class of module with its attributes and methods";
  let description = [{
    ```mlir
    torch.class_type @Linear {
      torch.attr "weight" : !torch.tensor
      torch.method "forward", @linear_forward
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$sym_name $region attr-dict";
}

def Torch_ClassTypeTerminatorOp
    : Torch_Op<"class_type_terminator", [Terminator, HasParent<"::ssa_compiler::torch::ClassTypeOp">]> {
  let summary = "ends a torch.class_type";
  let assemblyFormat = "attr-dict";
}

def Torch_MethodOp : Torch_Op<"method", [HasParent<"::ssa_compiler::torch::ClassTypeOp">]> {
  let summary = "declares a method of a class, implemented by a function that takes the module first";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$function, UnitAttr:$isPrivate);
  let assemblyFormat = "(`private` $isPrivate^)? $name `,` $function attr-dict";
}

def Torch_AttrOp : Torch_Op<"attr", [HasParent<"::ssa_compiler::torch::ClassTypeOp">]> {
  let summary = "declares an attribute of a class";
  let arguments = (ins StrAttr:$name, TypeAttr:$type, UnitAttr:$isPrivate);
  let assemblyFormat = "(`private` $isPrivate^)? $name `:` $type attr-dict";
}

def Torch_GlobalSlotOp : Torch_Op<"global_slot", [Symbol]> {
  let summary = "a global variable that holds a TorchScript value";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, TypeAttr:$typeBound);
  let assemblyFormat = "($sym_visibility^)? $sym_name attr-dict `:` $typeBound";
}

def Torch_GlobalSlotModuleInitializerOp
    : Torch_Op<"global_slot.module_initializer",
               [IsolatedFromAbove,
                SingleBlockImplicitTerminator<"::ssa_compiler::torch::InitializeGlobalSlotsOp">]> {
  let summary = "computes the initial values of all global slots, once, at program start";
  let regions = (region SizedRegion<1>:$initializer);
  let assemblyFormat = "$initializer attr-dict";
}

def Torch_InitializeGlobalSlotsOp
    : Torch_Op<"initialize.global_slots",
               [Terminator, HasParent<"::ssa_compiler::torch::GlobalSlotModuleInitializerOp">]> {
  let summary = "stores the initial values in the global slots";
  let description = [{
    ```mlir
    torch.initialize.global_slots [
      @weight(%w : !torch.tensor)
    ]
    ```
  }];
  let arguments = (ins SymbolRefArrayAttr:$slotSymNames, Variadic<AnyTorchType>:$initialValues);
  let builders = [OpBuilder<(ins), [{
    // What an omitted terminator stands for: a list of no slots.
    $_state.getOrAddProperties<Properties>().slotSymNames = $_builder.getArrayAttr({});
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Torch_GlobalSlotInitOp
    : Torch_Op<"global_slot.init", [Terminator, HasParent<"::ssa_compiler::torch::GlobalSlotOp">]> {
  let summary = "gives the initial value of the torch.global_slot around it";
  let arguments = (ins AnyTorchType:$initialValue);
  let assemblyFormat = "$initialValue attr-dict `:` qualified(type($initialValue))";
}

def Torch_GlobalSlotGetOp : Torch_Op<"global_slot.get", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a global slot; what it holds may be shared";
  let arguments = (ins FlatSymbolRefAttr:$slot);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = "$slot attr-dict `:` qualified(type($result))";
}

def Torch_GlobalSlotSetOp : Torch_Op<"global_slot.set", [MemoryEffects<[MemWrite]>]> {
  let summary = "replaces what a global slot refers to";
  let arguments = (ins FlatSymbolRefAttr:$slot, AnyTorchType:$value);
  let assemblyFormat = "$slot `=` $value attr-dict `:` qualified(type($value))";
}

def Torch_PrimCreateObjectOp : Torch_Op<"prim.CreateObject", []> {
  let summary = "makes an instance of a class, without running its constructor";
  let results = (outs Res<Torch_NnModuleType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict qualified(type($result))";
}

def Torch_PrimGetAttrOp : Torch_Op<"prim.GetAttr", [MemoryEffects<[MemRead]>]> {
  let summary = "reads an attribute of a module";
  let arguments = (ins StrAttr:$name, Torch_NnModuleType:$receiver);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = [{
    $receiver `[` $name `]` attr-dict `:` qualified(type($receiver)) `->` qualified(type($result))
  }];
}

def Torch_PrimSetAttrOp : Torch_Op<"prim.SetAttr", [MemoryEffects<[MemWrite]>]> {
  let summary = "replaces what an attribute of a module refers to";
  let arguments = (ins StrAttr:$name, Torch_NnModuleType:$receiver, AnyTorchType:$value);
  let assemblyFormat = [{
    $receiver `[` $name `]` `=` $value attr-dict `:` qualified(type($receiver)) `,` qualified(type($value))
  }];
}

def Torch_PrimCallMethodOp : Torch_Op<"prim.CallMethod"> {
  let summary = "calls a method of a module";
  let arguments = (ins StrAttr:$name, Torch_NnModuleType:$receiver, Variadic<AnyTorchType>:$methodOperands);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = [{
    $receiver `[` $name `]` `(` $methodOperands `)` attr-dict `:` qualified(type($receiver)) `,`
    functional-type($methodOperands, $result)
  }];
}

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHMODULEOPS_TD
