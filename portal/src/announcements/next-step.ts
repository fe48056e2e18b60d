// What happens next in a region that is not as wanted, and who can act, in a sentence beside the server's own. Pure; the
// server's sentence is the one that counts, so that one which is not known here loses nothing.
import type { RegionStateOfAnnouncement } from '@pharos/contract/byoip'

type Seen = Pick<RegionStateOfAnnouncement, 'state' | 'desired' | 'message'>

const known: readonly (readonly [Seen['state'], RegExp, string])[] = [
  [
    'withdrawing',
    /waits for the operator's approval/,
    'The provider’s guard holds what would withdraw too much at once. Their staff decide; the prefix stays reachable here until then. Write to them if it is urgent.',
  ],
  [
    'withdrawing',
    /operator has declined/,
    'They keep it announced and are not asked again for a day. Switching it on and off again asks anew.',
  ],
  [
    'withdrawing',
    /router still shows it/,
    'The withdrawal is sent again with every comparison. If it stays for minutes, tell the provider: only they can look at the router.',
  ],
  [
    'announcing',
    /switched too often/,
    'There is nothing to do: it goes out by itself then. A withdrawal never waits.',
  ],
  [
    'error',
    /router of the region refuses/,
    'It is tried again with every comparison. Only the provider can see why: tell them.',
  ],
  ['error', /cannot be carried out/, 'Only the provider can mend this: tell them.'],
]

/** Undefined where all is as wanted. */
export function nextStep({ state, desired, message }: Seen): string | undefined {
  if (state === (desired ? 'announced' : 'withdrawn')) return undefined
  const step = known.find(([of, pattern]) => of === state && pattern.test(message ?? ''))
  if (step) return step[2]
  return state === 'error'
    ? 'Tell the provider.'
    : 'The router is compared again by itself; this line follows.'
}
