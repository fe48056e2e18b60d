// Pharos' own announcements as numbers, to judge all of them by a ROA table in one pass: whether many lose their
// validity by a change of the VRPs, and about which ones two sources disagree. Pure.
import type { Family } from '../../net/bits.ts'
import { prefixBits, type Prefix } from '../../net/prefix.ts'
import { roaStates, type RoaTable } from './roa-table.ts'

/** A prefix that is announced with this origin. */
export type AnnouncedOrigin = { readonly prefix: Prefix; readonly asn: number }

export type AnnouncedOrigins = {
  readonly list: readonly AnnouncedOrigin[]
  /** Returns 1 for each of the list that is valid, and 0 for the others; 0.1 us each. */
  validIn(table: RoaTable): Uint8Array
}

const valid = roaStates.indexOf('valid')

export function createAnnouncedOrigins(list: readonly AnnouncedOrigin[]): AnnouncedOrigins {
  const families = ([4, 6] as const).map((family) => columnsOf(list, family))
  return {
    list,
    validIn(table) {
      const found = new Uint8Array(list.length)
      for (const { family, places, prefixes, asns } of families) {
        const states = table.judgeMany(family, prefixes, asns)
        for (const [at, place] of places.entries()) found[place] = states[at] === valid ? 1 : 0
      }
      return found
    },
  }
}

function columnsOf(list: readonly AnnouncedOrigin[], family: Family) {
  const bits = list.map(({ prefix }) => prefixBits(prefix))
  const places = [...list.keys()].filter((place) => bits[place]!.family === family)
  const column = (read: (place: number) => number) => Uint32Array.from(places, read)
  const prefixes = {
    w0: column((place) => bits[place]!.w0),
    w1: column((place) => bits[place]!.w1),
    w2: column((place) => bits[place]!.w2),
    w3: column((place) => bits[place]!.w3),
    lengths: column((place) => bits[place]!.length),
  }
  return { family, places, prefixes, asns: column((place) => list[place]!.asn) }
}

export const originText = ({ prefix, asn }: AnnouncedOrigin): string => `${prefix} of AS${asn}`
