// The source of PTR records that a rollback restores, which the journal does not contain. A record that equals the
// output of a template is generated, so that it is deleted or replaced with the template.
import type { Trx } from '../../db/postgres.ts'
import { recordType } from '../../net/dns/type.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { PlacedDesired } from '../zone/change-content.ts'
import { listTemplates } from '../reverse/reverse.store.ts'
import { isFromTemplate, parsePattern } from '../reverse/template.ts'

/** Returns the sets of a zone of reverse DNS with their sources. */
export async function withSources(
  trx: Trx,
  teamId: number,
  sets: readonly PlacedDesired[],
): Promise<PlacedDesired[]> {
  const patterns = (await listTemplates(trx, teamId)).map(({ prefix, pattern }) =>
    parsePattern(['template'], pattern, parsePrefix(prefix)),
  )
  const isGenerated = (set: PlacedDesired): boolean =>
    set.type === recordType.PTR && patterns.some((pattern) => isFromTemplate(pattern, set))
  return sets.map((set) => (isGenerated(set) ? { ...set, source: 'generated' } : set))
}
