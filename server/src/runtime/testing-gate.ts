// A gate for tests of loops. The product does not import this file.
import type { Gate } from './gate.ts'

export const openGate: Gate = { mayApply: async () => true, state: 'open' }
