// The four steps of an announcement, each with the line that is true now. Pure.
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { Step } from '../ui/step-list.tsx'
import { namesOf, openChecks } from './check-view.ts'
import { words } from './words.ts'

const { steps: texts } = words

/** Returns the checks, the release and the announcement as steps; who added it is asked of the history. */
export function stepsOf(announcement: Announcement): [checks: Step, ready: Step, announced: Step] {
  return [checksStep(announcement), readyStep(announcement), announcedStep(announcement)]
}

function checksStep({ validations = [] }: Announcement): Step {
  const passed = validations.filter(({ state }) => state === 'valid').length
  const { you, provider } = openChecks(validations)
  const isDone = validations.length > 0 && passed === validations.length
  const state = isDone ? 'done' : you.length > 0 ? 'warn' : provider.length > 0 ? 'warn' : 'now'
  return { name: texts.checks, state, text: texts.passed(passed, validations.length) }
}

function readyStep({ validations = [], details }: Announcement): Step {
  const name = texts.ready
  if (details?.suspended)
    return {
      name,
      state: 'bad',
      text: details.suspended_by === 'validation' ? texts.suspendedByCheck : texts.suspended,
    }
  const { you, provider, nobody } = openChecks(validations)
  if (you.length > 0 && provider.length > 0)
    return { name, state: 'next', text: texts.waitsForBoth(namesOf(you), namesOf(provider)) }
  if (you.length > 0) return { name, state: 'next', text: texts.waitsForYou(namesOf(you)) }
  if (provider.length > 0) return { name, state: 'next', text: texts.waitsForProvider(namesOf(provider)) }
  if (nobody.length > 0 || validations.length === 0)
    return { name, state: 'next', text: texts.waitsForChecks }
  return { name, state: 'done', text: texts.allPassed }
}

function announcedStep({ enabled, region_states: states = [] }: Announcement): Step {
  const name = texts.announced
  const wanted = states.filter(({ desired }) => desired)
  const held = states.filter(({ state }) => state === 'announced' || state === 'withdrawing')
  const since = held.map((one) => one.since).toSorted()[0]
  if (!enabled) {
    if (held.length > 0) return { name, state: 'now', text: texts.withdrawing(held.length) }
    const last = states
      .filter(({ requested }) => requested !== null)
      .map((one) => one.since)
      .toSorted()
      .at(-1)
    return last === undefined
      ? { name, state: 'next', text: texts.notYet }
      : { name, state: 'next', text: texts.withdrawnSince, at: last }
  }
  const there = wanted.filter(({ state }) => state === 'announced')
  const text = texts.inRegions(there.length, wanted.length)
  if (wanted.some(({ state }) => state === 'error')) return { name, state: 'bad', text }
  if (there.length < wanted.length || wanted.length === 0) return { name, state: 'now', text }
  return since === undefined
    ? { name, state: 'done', text }
    : { name, state: 'done', text: `${text} ${texts.since}`, at: since }
}
