// What was done with shield rules against an attack, and by whom, as steps of its timeline: from the audit log, or for those who do not
// read it from the rules that are in place. Pure.
import type { AuditEntry } from '@pharos/contract/team/audit'
import type { ShieldRule } from '@pharos/contract/shield/shield'
import type { Step } from './timeline.ts'
import { words } from './words.ts'

const { timeline: texts } = words

type Entry = Pick<AuditEntry, 'at' | 'action' | 'actor' | 'actor_name' | 'before' | 'after'>

/** Returns a step for each change of a list, with the person. `eventIds`: the events of the attack. */
export const stepsOfChanges = (entries: readonly Entry[], eventIds: readonly string[]): Step[] =>
  entries.flatMap((entry): Step[] => {
    const text = textOf(entry, eventIds)
    return text === undefined ? [] : [{ at: entry.at, kind: 'rules', text, note: texts.by(actorOf(entry)) }]
  })

/** Returns a step for each rule that was created in the time of the attack. */
export const stepsOfRules = (
  rules: readonly Pick<ShieldRule, 'created' | 'comment' | 'action'>[],
  eventIds: readonly string[],
): Step[] => {
  const steps = rules
    .filter(({ action }) => action !== 'allow')
    .map(({ created, comment }): Step => ({
      at: created,
      kind: 'rules',
      text: isOfEvent(comment, eventIds) ? texts.suggestedApplied : texts.rulesChanged,
    }))
  // Rules of one change have one time.
  return [...new Map(steps.map((step) => [`${step.at} ${step.text}`, step])).values()]
}

function textOf({ action, actor, before, after }: Entry, eventIds: readonly string[]): string | undefined {
  switch (action) {
    case 'shield.update': {
      const added = suggestedIn(after, eventIds) > suggestedIn(before, eventIds)
      if (rulesOf(after).length === 0) return texts.rulesRemoved
      return added ? texts.suggestedApplied : texts.rulesChanged
    }
    case 'shield.confirm':
      return texts.rulesKept
    case 'shield.revert':
      return actor === 'pharos' ? texts.rulesExpired : texts.rulesReverted
    case 'shield.remove':
      return texts.rulesRemoved
    default:
      return undefined
  }
}

const actorOf = ({ actor, actor_name: name }: Entry): string =>
  name ?? (actor === 'staff' ? texts.provider : actor === 'pharos' ? texts.pharos : actor)

function rulesOf(value: unknown): readonly { readonly comment?: unknown }[] {
  const rules = typeof value === 'object' && value !== null ? (value as { rules?: unknown }).rules : undefined
  return Array.isArray(rules) ? rules : []
}

/** Suggested rules have the event as their comment. */
const suggestedIn = (value: unknown, eventIds: readonly string[]): number =>
  rulesOf(value).filter(({ comment }) => isOfEvent(comment, eventIds)).length

const isOfEvent = (comment: unknown, eventIds: readonly string[]): boolean =>
  typeof comment === 'string' && eventIds.some((id) => comment === `Event ${id}`)
