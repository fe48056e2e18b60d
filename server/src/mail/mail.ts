// Queues mails: a row is inserted in the transaction that causes the mail, and a loop sends it later. Callers pass a
// template and its content; templates.ts defines the text.
import type { ApprovalChange } from '@pharos/contract/operator/approval'
import type { ApprovalAreaName } from '@pharos/contract/reason/approval-reason'
import type { Role } from '@pharos/contract/role'
import type { Db, Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { seal, type KeyRing } from '../runtime/secrets.ts'
import { insertMail } from './mail.store.ts'

/** The content of each template. Links are complete URLs; times are ISO 8601 in UTC. */
export type MailContents = {
  /** To a new address: following the link proves access to it. */
  readonly 'confirm-email': { readonly link: string; readonly hours: number }
  /** To the previous address of an account whose address is being changed. */
  readonly 'email-changing': { readonly to: string; readonly at: string; readonly address: string }
  readonly 'password-reset': { readonly link: string; readonly minutes: number }
  readonly 'password-changed': { readonly at: string; readonly address: string }
  readonly invitation: {
    /** Missing in mails that an earlier release queued. */
    readonly roles?: readonly Role[]
    readonly link: string
    readonly days: number
    readonly team: string
    readonly invitedBy: string
    /** Text of the inviter; may be empty. */
    readonly message: string
    /** Name of the identity provider with which the address signs in; undefined in mails of the release before. */
    readonly provider?: string | null
  }
  readonly 'second-factor-changed': {
    readonly change:
      | 'on'
      | 'off'
      | 'recovery codes'
      | 'authenticator removed'
      | 'passkey added'
      | 'passkey removed'
    readonly at: string
    readonly address: string
  }
  /** An identity provider of a team now signs in to the account. */
  readonly 'identity-linked': {
    readonly team: string
    readonly provider: string
    readonly at: string
    readonly address: string
  }
  /** To the admins of a team: it was opened without its identity provider, or this does not work. */
  readonly 'team-sign-in':
    | {
        readonly change: 'recovery code used'
        readonly team: string
        readonly by: string
        readonly at: string
        readonly address: string
      }
    /** To staff: an account for the time when their identity provider does not answer. */
    | {
        readonly change: 'break glass used'
        readonly by: string
        readonly at: string
        readonly address: string
      }
    /** To staff: SCIM has removed or demoted the last admin of a team. */
    | { readonly change: 'last admin removed'; readonly team: string; readonly at: string }
    | { readonly change: 'opened by the operator'; readonly team: string; readonly at: string }
    | {
        readonly change: 'certificates changed'
        readonly team: string
        readonly provider: string
        /** SHA-256 of those with which the provider signs from now on. */
        readonly fingerprints: readonly string[]
        readonly at: string
        readonly address: string
      }
    | {
        readonly change: 'provider unreachable'
        readonly team: string
        readonly provider: string
      }
  /** To the owner of an account that an identity provider has named: following the link links the account. */
  readonly 'link-account': {
    readonly link: string
    readonly hours: number
    readonly team: string
    readonly provider: string
  }
  /** To the address of an account that was deleted. `address` is null if the provider deleted it, or nobody used it. */
  readonly 'account-deleted': { readonly at: string; readonly address: string | null }
  /** To an account that has been without a team for a long time, so that nobody can use it. */
  readonly 'account-unused': { readonly days: number }
  /** A copy of an old refresh token was presented. */
  readonly 'session-ended': { readonly at: string; readonly address: string }
  readonly 'domain-lost': { readonly team: string; readonly domain: string; readonly reason: string }
  readonly 'webhook-disabled': {
    readonly team: string
    readonly url: string
    readonly since: string
    readonly error: string
  }
  /** To the operator's staff: changes of any area need approval. */
  readonly 'approval-open': {
    readonly isReminder: boolean
    readonly approvals: readonly {
      readonly id: number
      readonly area: ApprovalAreaName
      /** Slug of a region, name of a zone or scrubber, prefix, or source of an import. */
      readonly subject: string
      readonly team: string | null
      readonly detail: string
      readonly at: string
      readonly itemCount: number
      /** Withdrawals by team; null: without an explaining announcement. Empty in other areas. */
      readonly teams: readonly { readonly team: string | null; readonly count: number }[]
      /** The first of the changes. */
      readonly items: readonly {
        readonly change: ApprovalChange
        readonly value: string
        readonly router: string | null
        readonly team: string | null
        readonly requestedBy: string | null
        readonly requestedAt: string | null
      }[]
    }[]
    readonly link: string
  }
  /** To the operator's staff: the database went back in time, and all other sending is stopped. */
  readonly 'restore-open': {
    readonly id: number
    readonly at: string
    readonly detail: string
    readonly link: string
  }
  /** To the operator's staff: a name server keeps an old version of zones, while others serve the newest one. */
  readonly 'zones-refused': {
    readonly zones: readonly {
      readonly name: string
      readonly servers: readonly string[]
      /** Serial of the served version; null if unknown. */
      readonly serial: number | null
      /** The first record sets that they lack; empty if unknown. */
      readonly sets: readonly string[]
    }[]
  }
  /**
   * Notifications of one team, or (team null) for an employee of the provider. The texts may contain text of other
   * users.
   */
  readonly notifications: {
    readonly team: string | null
    readonly subject: string
    readonly lines: readonly string[]
    /** Number of notifications, of which `lines` are the newest. */
    readonly count: number
    readonly link: string
    readonly settings: string
    readonly unsubscribe: string
  }
  /** The report of a month, which is attached: see `attachments` of SendDeps. */
  readonly 'monthly-report': {
    readonly team: string
    readonly teamId: number
    /** Such as 2026-03, and as text. */
    readonly month: string
    readonly monthText: string
    readonly rows: readonly (readonly [label: string, value: string])[]
    readonly link: string
    readonly settings: string
    readonly unsubscribe: string
  }
  /** Sent on the operator's command, never queued. */
  readonly test: { readonly at: string }
}
export type MailTemplate = keyof MailContents

export type NewMail<T extends MailTemplate = MailTemplate> = {
  readonly to: string
  /** The team that the mail concerns; null if it concerns a user account. */
  readonly teamId: number | null
  /** User of a mail of notifications: it is not sent once the user has left the team. */
  readonly userId?: number
  readonly template: T
  readonly content: MailContents[T]
}

/** Inserts the mail in the transaction: it is sent soon after the commit, and never after a rollback. */
export async function queueMail<T extends MailTemplate>(
  trx: Db | Trx,
  ring: KeyRing,
  mail: NewMail<T>,
): Promise<void> {
  const { to, teamId, userId = null, template, content } = mail
  const contentSealed = seal(ring, 'mail', Buffer.from(JSON.stringify(content)), template)
  await insertMail(trx, { recipient: to, teamId, userId, template, contentSealed })
  await wake(trx, 'mails')
}
