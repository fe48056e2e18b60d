// A thread for the test of the pool: it answers at once, never ends, or takes memory.
import { answerJobs } from './thread-pool.ts'

answerJobs((job: 'answer' | 'loop' | 'memory') => {
  const held: unknown[] = []
  while (job === 'loop');
  while (job === 'memory') held.push(Array.from({ length: 1_000 }, () => ({})))
  return job
})
