// Alternates Pharos and the peer, so that other load on the machine affects both.
import { median } from '../../lab/src/measure.ts'

export type Turns<A, B> = { readonly ours: readonly A[]; readonly peer: readonly B[] }

/** Peer, Pharos, peer, Pharos ...: each as often as there are rounds. */
export async function takeTurns<A, B>(
  rounds: number,
  ours: (round: number) => Promise<A>,
  peer: (round: number) => Promise<B>,
): Promise<Turns<A, B>> {
  const turns = { ours: [] as A[], peer: [] as B[] }
  for (let round = 0; round < rounds; round++) {
    turns.peer.push(await peer(round))
    turns.ours.push(await ours(round))
  }
  return turns
}

/** The median of one number of each sample. */
export function medianOf<T>(samples: readonly T[], numberOf: (sample: T) => number): number {
  return median(samples.map(numberOf))
}
