// What the command palette does to an object that is named after a verb, such as "withdraw 203.0.113.0/24": it opens the page of the object and
// then the action of that page, with its dry run. Pure.
import type { Grant } from '@pharos/contract/role'
import type { SearchKind } from '@pharos/contract/search'
import { words } from './words.ts'

export type ObjectAction = {
  /** `data-action` of the element on the page. */
  readonly name: string
  readonly kind: SearchKind
  readonly grant: Grant
  readonly verb: string
  /** What follows the verb. */
  readonly object: string
}

export const objectActions: readonly ObjectAction[] = [
  { name: 'announce', kind: 'announcement', grant: 'ipam.operate', ...words.verbs.announce },
  { name: 'withdraw', kind: 'announcement', grant: 'ipam.operate', ...words.verbs.withdraw },
  { name: 'check', kind: 'announcement', grant: 'ipam.operate', ...words.verbs.check },
  { name: 'add-record', kind: 'zone', grant: 'dns.edit', ...words.verbs.addRecord },
  { name: 'preview-rules', kind: 'incident', grant: 'shield.apply', ...words.verbs.previewRules },
  { name: 'add-rule', kind: 'shield_list', grant: 'shield.apply', ...words.verbs.addRule },
]

/** Returns the action whose verb begins the query, and what follows it; undefined if none does. */
export function readVerb(
  query: string,
  actions: readonly ObjectAction[],
): { readonly action: ObjectAction; readonly rest: string } | undefined {
  const text = query.trimStart().toLowerCase()
  const action = actions.find(({ verb }) => text.startsWith(`${verb.toLowerCase()} `))
  return action && { action, rest: text.slice(action.verb.length).trim() }
}
