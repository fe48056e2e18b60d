// The labels of event flags.
import type { EventFlag } from '@pharos/contract/analysis'
import { words } from './words.ts'

export const flagLabel = (flag: EventFlag): string => words.flags[flag]
