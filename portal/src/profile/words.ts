// The texts of the profile: details, sign-in, second factor, display, sessions, notification settings.
import { mailPauseMinutes, type Digest } from '@pharos/contract/messages/notification'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'

const digests: Record<Digest, string> = {
  immediate: `At once, then at most every ${mailPauseMinutes} minutes`,
  hourly: 'Every hour',
  daily: 'Every day at 07:00 UTC',
}

/** Settings of mails. */
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
  not_visible: {
    label: 'Announced, but not visible',
    help: 'Hardly any other network sees an announced prefix.',
  },
  other_path: {
    label: 'Announced, but on another path',
    help: 'No other network reaches an announced prefix through the provider.',
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
  port_down: { label: 'Port down', help: 'A port that was up is down, and the provider did not disable it.' },
  bgp_session_down: {
    label: 'BGP session down',
    help: 'A BGP session of a port was established and is not any more.',
  },
  optic_warning: {
    label: 'Module warning',
    help: 'The light of a module is falling, has fallen at once, or is close to its limit.',
  },
  shield_changed: {
    label: 'Shield rules',
    help: 'A list of shield rules was reverted or removed, or is not applied.',
  },
  letter_needed: {
    label: 'Letter needed',
    help: 'A cross connect waits for a letter of authorization of your team.',
  },
  alert: {
    label: 'Alerts',
    help: 'An alert rule of the team fires, ends, or has no data.',
  },
  staff_access: {
    label: 'Provider in your team',
    help: 'Staff of the provider entered the team, with their reason. Only for admins.',
  },
  token_expiring: {
    label: 'Credential expires',
    help: 'An API token or TSIG key of the team expires within 30, 7 or 1 days. Only for admins.',
  },
  approval_opened: {
    label: 'Approval needed',
    help: 'Changes wait for a decision of staff. The alert address of the platform gets a mail in any case.',
  },
  letter_to_review: { label: 'Letter to review', help: 'A team uploaded a letter of authorization.' },
  sampling_implausible: {
    label: 'Implausible sampling rate',
    help: 'Flows of an exporter do not match the counters of its interface.',
  },
}

type PageAddress = { readonly port: string; readonly hostname: string }

export const words = {
  title: 'Profile',
  details: 'Your details',
  detailsHelp: 'How you appear to the members of your teams, and in the audit log.',
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
  signIn: 'Sign-in',
  signInHelp: 'Changing the password or the address signs you out on other devices.',
  signInWith: (email: string): string => `Your address for sign-in is ${email}.`,
  confirm: (email: string): string => `Confirm ${email}`,
  linkExpires: 'We sent a link to that address. It expires',
  untilConfirmed:
    'Until then, keep signing in with your current address. No e-mail? Check the spelling and try again.',

  factor: {
    title: 'Two-factor authentication',
    help: 'A code of your authenticator app or a passkey at every sign-in, in addition to the password.',
    offText:
      'Your account is protected by a password only. Add an authenticator app so that a stolen password is not enough. Setting it up signs you out everywhere else.',
    passkeysText:
      'Your passkeys are the second factor beside the password. You can add an authenticator app too.',
    on: 'On',
    since: 'Since',
    codesLeft: (count: number): string => `${count} recovery ${count === 1 ? 'code' : 'codes'} left`,
    fewCodes:
      'Generate new recovery codes. Without them, losing your authenticator locks you out until the provider helps.',
    setUp: 'Set up',
    setUpTitle: 'Set up two-factor authentication',
    steps: { password: 'Password', app: 'Authenticator', codes: 'Recovery codes' },
    next: 'Continue',
    turnOn: 'Turn on',
    savedCodes: 'I have saved these codes',
    scan: 'Scan this code with your authenticator app, or enter the key:',
    copyKey: 'Copy key',
    qr: 'QR code for the authenticator',
    fileHead: (host: string, date: string): string => `Recovery codes for ${host}, generated on ${date}.`,
    fileText: 'Each works once, in place of a code of the authenticator.',
    storeCodes:
      'Store these in your password manager. Each works once if you lose your authenticator. They will not be shown again.',
    copyAll: 'Copy all',
    download: 'Download',
    offTitle: 'Turn off two-factor authentication',
    turnOff: 'Turn off',
    offEffect: 'You lose access to teams that require it until you turn it on again.',
    offEffectWithPasskeys: 'Your passkeys and recovery codes stay the second factor beside the password.',
    isOff: 'The authenticator app is off. Other sessions were signed out.',
    newCodes: 'New recovery codes',
    generate: 'Generate new codes',
  },

  data: {
    title: 'Your data',
    help: 'Download a copy of what is stored about you, or delete your account.',
    export: 'Export data',
    delete: 'Delete account',
    deleteTitle: (email: string): string => `Delete the account ${email}?`,
    deleteText:
      'This cannot be undone. An e-mail confirms the deletion. The following is deleted immediately:',
    membershipOf: (teams: string): string => `your membership of ${teams}`,
    stays:
      'The audit log of your teams keeps your changes under the number of your account, without your name and address. API tokens of service accounts keep working.',
    passkeyHelp: 'Leave empty to confirm with a passkey.',
  },
  identities: {
    title: 'Single sign-on',
    help: 'Identity providers that you sign in with. Each gives access to its own team only.',
    none: 'No identity provider is linked.',
    of: (team: string): string => `for ${team}`,
    linked: 'Linked',
    used: 'last used',
    unused: 'never used',
    unlink: 'Unlink',
    unlinkOf: (provider: string): string => `Unlink ${provider}`,
    unlinkTitle: (provider: string): string => `Unlink ${provider}?`,
    unlinkText:
      'It no longer signs you in, and sessions that it opened lose this team. Signing in with it again links it again.',
  },
  passkeys: {
    title: 'Passkeys',
    help: 'Sign in with the fingerprint, face or PIN of a device, or with a security key. Without the password, or as the second factor beside it.',
    none: 'No passkeys yet.',
    name: 'Name',
    add: 'Add passkey',
    addText:
      'Your browser then asks where to keep the passkey. It becomes a second factor of your account, and you are signed out everywhere else.',
    next: 'Continue',
    isAdded: 'Passkey added. Other sessions were signed out.',
    known: {
      title: 'The passkey exists already',
      detail: 'This device or password manager has a passkey of your account. Choose another one.',
    },
    cancelled: {
      title: 'No passkey was created',
      detail: 'The dialog of the browser was closed. Try again.',
    },
    synced: 'Synchronised',
    otherHost: 'Of another address',
    added: 'Added',
    used: 'last used',
    unused: 'not used yet',
    rename: 'Rename',
    renameOf: (name: string): string => `Rename ${name}`,
    remove: 'Remove',
    removeOf: (name: string): string => `Remove ${name}`,
    removeTitle: (name: string): string => `Remove the passkey ${name}?`,
    removeText:
      'It no longer signs in, and you are signed out everywhere else. Without another second factor, teams that require one are closed to you.',
    isRemoved: 'Passkey removed. Other sessions were signed out.',
    obstacles: {
      address: ({ port, hostname }: PageAddress): string =>
        /^127\.|^\[::1\]$/.test(hostname)
          ? `Passkeys need a host name. Open this page as http://localhost${port && `:${port}`} to add one.`
          : 'Passkeys need a host name, and this page has an IP address. Ask your provider for its name.',
      insecure: (): string => 'Passkeys need HTTPS.',
      unsupported: (): string => 'This browser does not support passkeys. Update it, or use another one.',
    },
  },

  display: {
    title: 'Display',
    help: 'Saved in this browser only.',
    browserZone: (zone: string): string => `Browser default (${zone})`,
    zone: 'Time zone',
    zoneHelp: 'Search by city or region',
    noZone: 'No time zones match',
    showIn: 'Show times in',
    showInHelp: 'Also in the header of every page',
    mine: 'My time zone',
    now: (time: string): string => `Now ${time}`,
    theme: 'Theme',
    system: 'System',
    light: 'Light',
    dark: 'Dark',
  },

  sessions: {
    title: 'Sessions',
    help: 'The devices that are signed in with your account. Sign out those that you do not know, then change your password.',
    current: 'This device',
    noAddress: 'Unknown address',
    active: 'Last active',
    since: 'signed in',
    until: 'expires',
    end: 'Sign out',
    endOf: (device: string): string => `Sign out ${device}`,
    out: 'Sign out everywhere',
    outTitle: 'Sign out everywhere?',
    outText: 'This signs you out on all devices, including this one. API tokens keep working.',
  },
  unitOf: (label: string): string => `Unit of ${label.toLowerCase()}`,

  notification: {
    section: 'Notifications',
    sectionHelp: 'What you are told about in the bell and by mail, in each team.',
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
    report: 'Monthly report',
    reportHelp: 'Traffic, attacks, billed services and changes of the team, on the second day of each month.',
    monthlyReport: 'Monthly report as PDF',
    monthlyReportHelp: 'It is also under Reports in the portal.',
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
