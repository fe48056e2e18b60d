// How often tests repeat random parts: mutated input, kills, generated requests. Only tests import this file.

/** 1 in `npm run test:long`, a tenth in `npm test`, whose runs have a new seed each; PHAROS_TEST_SCALE=100 takes hours. */
const scale = Number(process.env['PHAROS_TEST_SCALE'] ?? 0.1)

/** Whether this is the long run, which tries every combination. */
export const isLongRun = scale >= 1

/**
 * Returns the number of repetitions in this run, `full` in the long run. A test that counts random events needs
 * `atLeast`.
 */
export const scaled = (full: number, atLeast = 1): number => Math.max(atLeast, Math.round(full * scale))

/** The `skip` of a test that takes seconds, where a shorter one beside it finds the usual faults. */
export const onlyInLongRun: string | false = !isLongRun && 'in npm run test:long'
