// The status of lists and rules from the installed rules of every scrubber. Pure.
import type { ShieldReason } from '@pharos/contract/reason/shield-reason'
import type { ListState, Shown } from './reconcile.store.ts'

type Attrs = Shown['attrs']
type Rule = ListState['rules'][number]

/** `scrubbers` are the names of the scrubbers of the list. */
export function listStatus({ version, installs }: ListState, scrubbers: readonly string[]): Shown {
  if (scrubbers.length === 0) return pending('no_scrubber')
  const states = installsOf(installs, scrubbers)
  const rejected = states.find((one) => one?.state === 'rejected' && one.version === version)
  if (rejected) return { status: 'error', reason: rejected.reason, attrs: rejected.attrs }
  const unreachable = scrubbers.filter((_, at) => states[at]?.state === 'unreachable')
  const lost = scrubbers.filter((_, at) => states[at]?.reason === 'rules_may_be_lost')
  if (lost.length > 0) return pending('rules_may_be_lost', { scrubbers: lost })
  if (unreachable.length > 0) return pending('scrubber_unreachable', { scrubbers: unreachable })
  if (states.some((one) => one?.state === 'held' && one.version === version)) return pending('held')
  const isActive = states.every((one) => one?.state === 'active' && one.version === version)
  return isActive ? { status: 'active', reason: null, attrs: {} } : pending('waiting')
}

/** Adds the sequences of the rules that the reason names by their ids: texts show them, and moving a rule changes them. */
export function withSequences({ attrs, ...shown }: Shown, { rules }: Pick<ListState, 'rules'>): Shown {
  const named = (['rule', 'other'] as const).flatMap((name) => {
    const found = rules.find(({ id }) => id === attrs[name])
    return found ? [[`${name}_sequence`, found.sequence] as const] : []
  })
  return { ...shown, attrs: { ...attrs, ...Object.fromEntries(named) } }
}

const pending = (reason: ShieldReason, attrs: Attrs = {}): Shown => ({ status: 'pending', reason, attrs })

const installsOf = (installs: ListState['installs'], scrubbers: readonly string[]) =>
  scrubbers.map((name) => installs.find(({ scrubber }) => scrubber === name))

/**
 * Returns the status of a rule, from the status of its list and the scrubbers' reports about the rule. While a scrubber
 * does not answer, a rule that was active stays so if the scrubber keeps it.
 */
export function ruleStatus(rule: Rule, list: Shown, { version, installs }: ListState): Shown {
  if (rule.expired) return { status: 'expired', reason: 'expired', attrs: {} }
  if (!rule.enabled) return pending('disabled')
  const note = installs
    .filter((one) => one.version === version)
    .map(({ rules }) => rules[String(rule.id)])
    .find((one) => one !== undefined)
  if (list.status === 'error')
    return { status: 'rejected', ...(note ?? { reason: list.reason, attrs: list.attrs }) }
  if (list.status === 'active')
    return { status: 'active', reason: note?.reason ?? null, attrs: note?.attrs ?? {} }
  const keeps = list.reason === 'scrubber_unreachable' && rule.status === 'active'
  return { status: keeps ? 'active' : 'pending', reason: list.reason, attrs: list.attrs }
}
