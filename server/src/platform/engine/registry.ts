// The kinds of the platform file, in the order in which elements are created. They are deleted in
// the reverse order.
import type { Kind } from './kind.ts'

export type Registry = {
  readonly kinds: readonly Kind[]
  /** The names of the sections of a document. */
  readonly sections: readonly string[]
  /** Throws for a name that is not in the registry. */
  get(name: string): Kind
}

/** Throws if two kinds have the same name, or a kind comes before a kind that its fields refer to. */
export function createRegistry(kinds: readonly Kind[]): Registry {
  const byName = new Map<string, Kind>()
  for (const kind of kinds) {
    if (byName.has(kind.name)) throw new Error(`two kinds are named ${kind.name}`)
    for (const { reference } of Object.values(kind.fields)) {
      if (reference && !byName.has(reference.kind.name))
        throw new Error(`${kind.name} must come after ${reference.kind.name}, which it refers to`)
    }
    byName.set(kind.name, kind)
  }
  return {
    kinds,
    sections: [...new Set(kinds.map(({ section }) => section))],
    get(name) {
      const kind = byName.get(name)
      if (!kind) throw new Error(`unknown kind ${name}`)
      return kind
    },
  }
}
