// ID6: signed answers of SAML whose nodes are moved, copied, removed and renamed at random, through the verification of the product: how many in a time, and how
// many of them gave another identity than the signed one.
import { movedAtRandom } from '../../server/src/drivers/saml/testing-moves.ts'
import {
  algorithms,
  anna,
  ecKey,
  expected,
  idpKey,
  signedResponse,
  toBase64,
} from '../../server/src/drivers/saml/testing-responses.ts'
import { verifyAnswer } from '../../server/src/drivers/saml/verify-answer.ts'
import { SignInFailure } from '../../server/src/identity/identity-provider.ts'
import { createRandom } from '../../server/test/support/random.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { milliseconds, perSecond, whole } from './table.ts'

export const samlMoves: Benchmark = {
  id: 'ID6',
  name: 'saml-moves',
  title: 'answers of SAML with nodes moved at random: no other identity',
  missing: () => undefined,
  run,
}

const goal = 10_000_000
const slowestMs = 2_000

async function run({ quick, full }: Bench): Promise<Line[]> {
  const seconds = quick ? 5 : full ? 600 : 60
  const seed = Date.now() % 1_000_000_007
  const random = createRandom(seed)
  const shapes = (['assertion', 'response', 'both'] as const).flatMap((signs) =>
    [false, true].map((inclusive) => signedResponse(signs, {}, { inclusive })),
  )
  const forgery = signedResponse(
    'both',
    { id: '_evil-1', nameId: 'mallory', email: 'mallory@red.example' },
    { key: ecKey, method: algorithms.ecdsaSha256 },
  )
  const seen = { all: 0, same: 0, wrong: 0, refused: 0, slowest: 0 }
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const answer = toBase64(movedAtRandom(shapes[seen.all % shapes.length]!, forgery, random))
    const start = performance.now()
    const outcome = outcomeOf(answer)
    seen.slowest = Math.max(seen.slowest, performance.now() - start)
    seen.all += 1
    seen[outcome] += 1
  }
  if (seen.same === 0) throw new Error('no answer was accepted: the moves are too coarse')
  return [
    {
      what: `${whole(seen.all)} answers in ${seconds} s (seed ${seed}), ${whole(seen.same)} accepted with the signed identity; ${whole(goal)} are the goal in total`,
      result: `${seen.wrong} wrong identities, slowest ${milliseconds(seen.slowest)}; ${perSecond(seen.all / seconds)}`,
      peer: '',
      ratio: '',
      goal: `0, none over ${slowestMs / 1000} s`,
      reached: seen.wrong === 0 && seen.slowest <= slowestMs,
    },
  ]
}

type Outcome = 'same' | 'wrong' | 'refused'

function outcomeOf(answer: string): Outcome {
  try {
    const { assertion } = verifyAnswer({ answer, certificates: [idpKey.certificate], expected })
    return assertion.subject === anna.nameId && assertion.email === anna.email ? 'same' : 'wrong'
  } catch (error) {
    if (error instanceof SignInFailure) return 'refused'
    throw error
  }
}
