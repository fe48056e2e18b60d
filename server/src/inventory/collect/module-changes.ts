// The modules that were removed, inserted or swapped between two surveys. Pure.

type Module = {
  readonly interface_id: number
  readonly vendor: string
  readonly part: string
  readonly serial: string
}
export type KnownModule = Module & { readonly id: number }

/** `before` and `after` are names for people; empty: no module. */
export type ModuleChange = { readonly interface_id: number; readonly before: string; readonly after: string }

/** Returns the ids of modules that are not there any more, and the changes by interface. */
export function listChanges(
  known: readonly KnownModule[],
  listed: readonly Module[],
): { readonly removed: readonly number[]; readonly changes: readonly ModuleChange[] } {
  const before = new Map(known.map((one) => [one.interface_id, one]))
  const after = new Map(listed.map((one) => [one.interface_id, one]))
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (id) => !isSame(before.get(id), after.get(id)),
  )
  return {
    removed: changed.flatMap((id) => before.get(id)?.id ?? []),
    changes: changed.map((id) => ({
      interface_id: id,
      before: moduleName(before.get(id)),
      after: moduleName(after.get(id)),
    })),
  }
}

const isSame = (a: Module | undefined, b: Module | undefined): boolean =>
  a?.vendor === b?.vendor &&
  a?.part === b?.part &&
  a?.serial === b?.serial &&
  (a === undefined) === (b === undefined)

const moduleName = (module: Module | undefined): string =>
  module === undefined
    ? ''
    : [module.vendor, module.part, module.serial].filter(Boolean).join(' ') || 'module without a name'
