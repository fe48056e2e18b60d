// Searches an as-set and its member sets for one of several ASNs. Real sets contain each other, have tens of thousands
// of names, and belong to anyone, so the search is bounded. A search that reaches its bound never counts as a match.
import type { Asn } from '../net/asn.ts'
import { parseAsSetName } from './objects/rpsl-objects.ts'
import { RpslError } from './objects/rpsl.ts'
import type { AsSetMembers } from './irr-source.ts'

export type AsSetLimits = {
  /** Length of the longest path from the first set to a member, in sets. */
  readonly depthMax: number
  /** Sets to query, at most. */
  readonly setsMax: number
}

export type AsSetFinding =
  | { readonly found: true; readonly asn: Asn; readonly through: readonly string[] }
  /** `reason`: why the search ended early; absent if it is complete. */
  | { readonly found: false; readonly reason?: string }

type Path = { readonly name: string; readonly from: Path | undefined; readonly depth: number }

/** Searches breadth first, so that the path to the member is a shortest one. Rejects as `membersOf` does. */
export async function findAsSetMember(
  asSet: string,
  wanted: ReadonlySet<Asn>,
  membersOf: (name: string) => Promise<AsSetMembers | undefined>,
  limits: AsSetLimits,
): Promise<AsSetFinding> {
  const first = readName(asSet)
  if (first === undefined) return { found: false, reason: 'the as-set has no valid name' }
  const queue: Path[] = [{ name: first, from: undefined, depth: 1 }]
  const seen = new Set([first])
  let isTooDeep = false
  for (let at = 0; at < queue.length; at++) {
    if (at === limits.setsMax)
      return { found: false, reason: `${first} contains more than ${limits.setsMax} sets` }
    const path = queue[at]!
    const members = await membersOf(path.name)
    if (!members && at === 0)
      return { found: false, reason: `there is no as-set ${first}, or it has no members` }
    const asn = members?.asns.find((member) => wanted.has(member))
    if (asn !== undefined) return { found: true, asn, through: namesOf(path) }
    const further = (members?.sets ?? []).filter((name) => !seen.has(name))
    if (path.depth >= limits.depthMax) {
      isTooDeep ||= further.length > 0
      continue
    }
    for (const name of further.slice(0, Math.max(0, limits.setsMax + 1 - queue.length))) {
      seen.add(name)
      queue.push({ name, from: path, depth: path.depth + 1 })
    }
  }
  return isTooDeep
    ? { found: false, reason: `${first} is more than ${limits.depthMax} sets deep` }
    : { found: false }
}

function readName(text: string): string | undefined {
  try {
    return parseAsSetName(text)
  } catch (error) {
    if (error instanceof RpslError) return undefined
    throw error
  }
}

function namesOf(path: Path | undefined): string[] {
  return path ? [...namesOf(path.from), path.name] : []
}
