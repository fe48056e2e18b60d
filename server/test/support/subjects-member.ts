// The operations of members and invitations.
import type { Subject } from './subject.ts'

export const memberSubjects: readonly Subject[] = []
