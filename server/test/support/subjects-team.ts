// The operations of a team itself.
import type { Subject } from './subject.ts'

export const teamSubjects: readonly Subject[] = []
