// The operations of the audit.
import type { Subject } from './subject.ts'

export const auditSubjects: readonly Subject[] = []
