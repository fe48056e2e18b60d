// The operations of domains.
import type { Subject } from './subject.ts'

export const domainSubjects: readonly Subject[] = []
