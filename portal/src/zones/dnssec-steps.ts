// The steps of enabling DNSSEC, from the answer of the API: signed, on the name servers, DS at the parent, validated; and of disabling it: DS
// deleted, caches expired, unsigned. Pure.
import type { Dnssec } from '@pharos/contract/dns/dnssec'
import { words } from './words.ts'

const { dnssecPage: texts } = words

export type StepState = 'done' | 'now' | 'next' | 'warn' | 'bad'
export type Step = {
  readonly name: string
  readonly text: string
  readonly state: StepState
  readonly at?: string
}

/** Returns the steps; empty while DNSSEC is off. `isServed`: all name servers have the newest version of the zone. */
export function stepsOf(dnssec: Dnssec, isServed: boolean): readonly Step[] {
  const { status, parent, publish_after: after } = dnssec
  if (status === 'disabled') return []
  if (status === 'pending_disabled') return stepsBack(dnssec)
  const isSpread = status !== 'signing' || (isServed && dnssec.keys.length > 0)
  // A parent that does not answer now has not lost what made the zone active.
  const isAtParent = parent.ds_matches === true || (status === 'active' && parent.ds_matches === null)
  const isBroken = status === 'error'
  const ds: Step = isAtParent
    ? { name: texts.ds, text: texts.dsDone, state: 'done' }
    : isBroken
      ? { name: texts.ds, text: parent.ds_present === true ? texts.dsReplace : texts.dsNow, state: 'bad' }
      : after === null
        ? { name: texts.ds, text: texts.dsNow, state: status === 'signing' ? 'next' : 'warn' }
        : { name: texts.ds, text: texts.dsAfter, state: isSpread ? 'now' : 'next', at: after }
  return [
    { name: texts.signed, text: texts.signedText, state: dnssec.keys.length > 0 ? 'done' : 'now' },
    { name: texts.spread, text: texts.spreadText, state: isSpread ? 'done' : 'now' },
    ds,
    {
      name: texts.active,
      text: isBroken ? texts.activeFailed : texts.activeText,
      state: status === 'active' ? 'done' : isBroken ? 'bad' : isAtParent ? 'now' : 'next',
    },
  ]
}

function stepsBack({ parent, unsigned_after: after }: Dnssec): readonly Step[] {
  const isDeleted = parent.ds_present === false
  return [
    {
      name: texts.dsDeleted,
      text: isDeleted
        ? texts.dsDeletedDone
        : parent.ds_present === null
          ? texts.dsDeletedUnknown
          : texts.dsDeletedNow,
      state: isDeleted ? 'done' : parent.ds_present === null ? 'now' : 'warn',
    },
    {
      name: texts.expired,
      text: after === null ? texts.expiredLater : texts.expiredAfter,
      state: isDeleted ? 'now' : 'next',
      ...(after === null ? {} : { at: after }),
    },
    { name: texts.unsigned, text: texts.unsignedText, state: 'next' },
  ]
}

export type DsParts = {
  readonly keyTag: string
  readonly algorithm: string
  readonly digestType: string
  readonly digest: string
}

const algorithmNames: Readonly<Record<string, string>> = { 13: 'ECDSA P-256', 15: 'Ed25519' }
const digestNames: Readonly<Record<string, string>> = { 1: 'SHA-1', 2: 'SHA-256', 4: 'SHA-384' }

/** Returns the fields of a DS record as registrars ask for them. */
export function dsParts(rdata: string): DsParts {
  const [keyTag = '', algorithm = '', digestType = '', ...digest] = rdata.trim().split(/\s+/)
  const named = (names: Readonly<Record<string, string>>, value: string) =>
    names[value] === undefined ? value : `${value} (${names[value]})`
  return {
    keyTag,
    algorithm: named(algorithmNames, algorithm),
    digestType: named(digestNames, digestType),
    digest: digest.join(''),
  }
}
