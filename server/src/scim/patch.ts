// The operations of PATCH (RFC 7644, 3.5.2), as Entra ID and Okta send them: `Replace` with a capital, values without a path, names with a dot as keys.
import { scimAttributes, scimList } from './body.ts'
import { ScimError } from './error.ts'
import { parsePath, type FilterTerm, type PatchPath } from './filter.ts'

export type PatchOperation = PatchPath & {
  readonly op: 'add' | 'replace' | 'remove'
  readonly value: unknown
}

/** Each attribute of a value without a path is one. */
const operationsMax = 1_000

/** Returns the operations, each with the path of one attribute. Throws ScimError. */
export function parsePatch(body: unknown): PatchOperation[] {
  const given = scimList(scimAttributes(body).get('operations'), operationsMax)
  if (given.length === 0) throw new ScimError('operation')
  const operations: PatchOperation[] = []
  for (const one of given) {
    operations.push(...parseOperation(one))
    if (operations.length > operationsMax) throw new ScimError('tooMany')
  }
  return operations
}

function parseOperation(given: unknown): PatchOperation[] {
  const attributes = scimAttributes(given)
  const [op, path, value] = ['op', 'path', 'value'].map((name) => attributes.get(name))
  const known = typeof op === 'string' ? op.toLowerCase() : undefined
  if (known !== 'add' && known !== 'replace' && known !== 'remove') throw new ScimError('operation')
  if (path !== undefined && path !== null) {
    if (typeof path !== 'string') throw new ScimError('path')
    return [{ op: known, value, ...parsePath(path) }]
  }
  if (known === 'remove') throw new ScimError('noTarget')
  const contents = scimAttributes(value)
  if (contents.size > operationsMax) throw new ScimError('tooMany')
  return [...contents].map(([name, content]) => ({
    op: known,
    value: content,
    ...parsePath(name),
  }))
}

/** Returns whether an element of a list meets all conditions, compared without case. `members eq "..."` compares the value. */
export function meets(element: Readonly<Record<string, unknown>>, filter: readonly FilterTerm[]): boolean {
  return filter.every(({ attribute, value }) => sameText(element[attribute], value))
}

const sameText = (a: unknown, b: unknown): boolean =>
  typeof a === 'string' && typeof b === 'string' ? a.toLowerCase() === b.toLowerCase() : a === b
