// The operations of API tokens.
import type { Subject } from './subject.ts'

export const tokenSubjects: readonly Subject[] = []
