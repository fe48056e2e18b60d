// The labels of event flags.
import type { EventFlag } from '@pharos/contract/events/event'
import { words } from './words.ts'

export const flagLabel = (flag: EventFlag): string => words.flags[flag]
