// A thread for the test of the pool: it answers at once, never ends, or takes memory.
import { answerJobs } from './thread-pool.ts'

answerJobs((job: 'answer' | 'loop' | 'memory') => {
  const held: unknown[] = []
  for (;;) {
    if (job === 'answer') return job
    if (job === 'memory') held.push(Array.from({ length: 1_000 }, () => ({})))
  }
})
