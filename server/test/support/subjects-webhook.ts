// The operations of webhooks.
import type { Subject } from './subject.ts'

export const webhookSubjects: readonly Subject[] = []
