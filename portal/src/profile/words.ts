// The texts of the profile: details, sign-in, second factor, display, sessions, notification settings.
import { mailPauseMinutes, type Digest } from '@pharos/contract/notification'
import type { NotificationKind } from '@pharos/contract/notification-text'

const digests: Record<Digest, string> = {
  immediate: `At once, then at most every ${mailPauseMinutes} minutes`,
  hourly: 'Every hour',
  daily: 'Every day at 07:00 UTC',
}

/** What is mailed. */
const kinds: Record<NotificationKind, { readonly label: string; readonly help: string }> = {
  attack: { label: 'Mail new attacks', help: 'An attack on your networks reaches one of these rates.' },
  attack_ended: { label: 'Mail when they end', help: 'An attack that was mailed is over, with its peak.' },
  check_failed: {
    label: 'Check failed',
    help: 'A check of a prefix that had passed fails, such as its ROA or route object.',
  },
  announcement_blocked: {
    label: 'Announcement blocked',
    help: 'A prefix cannot be announced: it was suspended, or its checks fail.',
  },
  announcement_error: {
    label: 'Announcement error',
    help: 'The routers did not accept a change of an announcement.',
  },
  unexpected_origin: {
    label: 'Unexpected origin',
    help: 'Another network announces one of your prefixes, or a part of it.',
  },
  letter_decided: {
    label: 'Letter decided',
    help: 'The provider accepted or rejected a letter of authorization.',
  },
  letter_expiring: { label: 'Letter expires', help: 'A letter of authorization expires within 14 days.' },
  changes_paused: {
    label: 'Changes paused',
    help: 'Withdrawals of your team wait for approval by the provider.',
  },
  hold_opened: {
    label: 'Approval needed',
    help: 'Changes of a region wait for a decision. The alert address of the platform gets a mail in any case.',
  },
  letter_to_review: { label: 'Letter to review', help: 'A team uploaded a letter of authorization.' },
}

export const words = {
  title: 'Profile',
  details: 'Your details',
  save: 'Save',
  saved: 'Saved.',
  firstName: 'First name',
  lastName: 'Last name',
  displayName: 'Display name',
  displayNameHelp: 'Shown to the members of your team.',
  country: 'Country',
  currentPassword: 'Current password',
  newPassword: 'New password',
  changePassword: 'Change password',
  passwordChanged: 'Password changed. Other sessions were signed out.',
  signsOutElsewhere: 'This signs you out everywhere else.',
  changeEmail: 'Change e-mail',
  changeEmailTitle: 'Change e-mail address',
  sendLink: 'Send link',
  currentAddress: (email: string): string => `Current address: ${email}`,
  newAddress: 'New address',
  checkMail: (email: string): string => `Check ${email} for a confirmation link.`,
  confirmingSignsOut: 'Confirming the new address signs you out everywhere.',
  sixDigits: 'Six-digit code',
  needsSixDigits: 'must be the 6 digits that the authenticator shows',
  code: 'Authenticator or recovery code',
  unitOf: (label: string): string => `Unit of ${label.toLowerCase()}`,

  notification: {
    title: 'Notification settings',
    note: (team: string): string => `These settings are yours, and apply to the team ${team} only.`,
    all: 'Open notifications',
    mails: 'E-mail',
    mailsHelp: (email: string): string =>
      `Mails go to ${email}. The bell in the portal shows every notification, also without mails.`,
    mail: 'Send mails',
    mailHelp: 'Mails about your account, such as password resets, are always sent.',
    digest: 'How often',
    digests,
    attacks: 'Attacks',
    attacksHelp:
      'You are notified of an attack as soon as its peak reaches one of these rates, in the bell and by mail. Smaller ones are in the list of events only.',
    bps: 'Bit rate of at least',
    bpsHelp: 'Leave empty to let the packet rate decide alone.',
    pps: 'Packet rate of at least',
    ppsHelp: 'Leave empty to let the bit rate decide alone.',
    noAttacks: 'Without a rate you are not notified of any attack.',
    other: 'What to mail',
    otherHelp: 'What is off here still appears in the bell.',
    staff: 'Work for the provider',
    staffHelp: 'For your work as staff of the provider. The same in all teams.',
    staffOnlyHelp: (team: string): string =>
      `For your work as staff of the provider. You are not a member of ${team} and get no notifications of this team.`,
    staffMail: 'Send mails to staff',
    staffMailHelp: 'They go to your own address.',
    kinds,
  },
} as const
