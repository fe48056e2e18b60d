// What the sign-ins with identity providers share, of teams and of staff: their dependencies, requests and answers.
import type { BodyOf } from '@pharos/contract/route'
import type { SessionTokens } from '@pharos/contract/session/session'
import type { completeSingleSignOnRoute, startSingleSignOnRoute } from '@pharos/contract/session/sso'
import type { Db } from '../db/postgres.ts'
import type { Actor } from '../operation/operation.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import type { MailLimits } from '../session/mail-limits.ts'
import type { PasskeyDeps } from '../session/passkey-check.ts'
import type { SessionDeps } from '../session/refresh.ts'
import type { ClientSource, RequestSource } from '../session/request-source.ts'
import type { AttemptReportDeps } from './attempt.ts'
import type { LinkingDeps } from './find-account.ts'
import type { CreateIdentityProvider } from './identity-provider.ts'
import type { DomainProvider } from './provider.store.ts'

export type SingleSignOnDeps = SessionDeps &
  PasskeyDeps &
  LinkingDeps &
  AttemptReportDeps & {
    readonly db: Db
    readonly createProvider: CreateIdentityProvider
    /** Returns the active provider of a verified domain, from memory. */
    readonly findByDomain: (domain: string) => Promise<DomainProvider | undefined>
    readonly onStaffSignIn: (outcome: string) => void
    readonly methodsOfClient: ClientLimiter
    readonly attemptsOfClient: ClientLimiter
    readonly mailLimits: MailLimits
  }

export type StartedFlow = { readonly redirect: string; readonly cookie: string }

export type StartBody = BodyOf<typeof startSingleSignOnRoute>
export type BrowserSource = RequestSource & { readonly actor: Actor | null; readonly cookie: string | null }

export type CompleteBody = BodyOf<typeof completeSingleSignOnRoute>
/** The cookie of the browser that sends the request. */
export type FlowClient = ClientSource & { readonly cookie: string | null }
export type CompletedSignIn = SessionTokens & { readonly return_to: string | null }
