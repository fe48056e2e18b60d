// Every figure of the bench, in the order in which they are measured.
import type { Figure } from './figure.ts'
import { fullReconcile } from './full-reconcile.ts'
import { patchToPeer } from './patch-to-peer.ts'
import { sessionRefresh } from './session-refresh.ts'

export const figures: readonly Figure[] = [sessionRefresh, patchToPeer, fullReconcile]
