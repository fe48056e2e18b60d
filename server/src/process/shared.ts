// The dependencies that all parts of a process share, and the form of a module's `parts.ts`: `parts` returns the components of each role,
// `routes` the operations.
import type { ReadBrand } from '../brand/brand.ts'
import type { RefusedCall } from '../db/audit.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import type { Waker } from '../db/wake.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { createWhatIf } from '../flow/what-if.ts'
import type { Facade } from '../http/facade.ts'
import type { Irr } from '../registry/irr.ts'
import type { Rpki } from '../registry/rpki.ts'
import type { Component } from '../runtime/component.ts'
import { publicUrl, type Config } from '../runtime/config.ts'
import type { Gate } from '../runtime/gate.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { PostResponseTasks } from '../runtime/post-response-tasks.ts'
import type { Role } from '../runtime/role.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import type { AccessTokens } from '../session/access-token.ts'
import type { NewPasswordDeps } from '../session/new-password.ts'

type Opened = {
  readonly config: Config
  readonly postgres: Postgres
  readonly waker: Waker
  readonly log: Log
  readonly metrics: Metrics
  /** Aborted when the process is about to stop. */
  readonly draining: AbortSignal
  readonly rpki: Rpki
  readonly irr: Irr
  /** Whether loops may send: see restore/gate.ts. */
  readonly gate: Gate<Trx>
  /** Opened by its first use; it may be missing. */
  readonly flowStore: FlowStore
}

export type Shared = Opened & {
  /** The connections of requests. */
  readonly front: Db
  /** The connections of loops, with the rights of the owner of the tables. */
  readonly owner: Db
  /** The keys of `secret`. */
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly now: () => Date
}

export const createShared = (opened: Opened): Shared => ({
  ...opened,
  front: opened.postgres.front,
  owner: opened.postgres.owner,
  ring: opened.config.secret,
  publicUrl: publicUrl(opened.config),
  now: () => new Date(),
})

/** The components of a module by role. They are created only in a process that has the role. */
export type Parts = Partial<Readonly<Record<Role, () => readonly Component[]>>>

/** Further dependencies of operations. */
export type ApiShared = Shared & {
  readonly accessTokens: AccessTokens
  readonly tasks: PostResponseTasks
  /** Records a refused call in the audit log. */
  readonly reportRefusal: (call: RefusedCall) => void
  readonly readBrand: ReadBrand
  /** Checks and hashes new passwords. */
  readonly newPasswords: NewPasswordDeps
  readonly estimate: ReturnType<typeof createWhatIf>
  /** Starts and stops a component with the server. */
  readonly attach: (component: Component) => void
  /** Serves an interface beside that of the contract. */
  readonly addFacade: (facade: Facade) => void
}
