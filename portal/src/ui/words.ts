// The texts of the shared components: problems by their code, errors of fields, forms, lists. The API's descriptions are written for
// programs and must not appear here.
import type { ProblemCode } from '@pharos/contract/problem'

type Text = {
  readonly title: string
  readonly detail: string
  /** Whether the server's sentence contains more than `detail`. It is used only if it is written for people. */
  readonly takesDetail?: true
}

const problems: Record<ProblemCode, Text> = {
  malformed: { title: 'The request could not be read', detail: 'Reload the page and try again.' },
  invalid_token: {
    title: 'This link no longer works',
    detail: 'It was used or has expired. Request a new one.',
  },
  unauthenticated: { title: 'You are signed out', detail: 'Sign in again to continue.' },
  wrong_scheme: { title: 'You are signed out', detail: 'Sign in again to continue.' },
  invalid_credentials: {
    title: 'Sign-in failed',
    detail: 'The e-mail address or the password is wrong.',
  },
  token_not_valid: { title: 'Your session has ended', detail: 'Sign in again to continue.' },
  otp_required: {
    title: 'Wrong code',
    detail: 'The code is wrong or was used already. Wait for the next code, or use a recovery code.',
  },
  forbidden: { title: 'You do not have access', detail: 'Ask an admin of your team.', takesDetail: true },
  scope_missing: { title: 'You do not have access', detail: 'The credential does not cover this.' },
  resource_limited: {
    title: 'You do not have access',
    detail: 'The credential is limited to other resources.',
  },
  module_disabled: {
    title: 'Not enabled for your team',
    detail: 'Ask your provider to enable this part of the portal.',
  },
  wrong_password: { title: 'Wrong password', detail: 'The current password is wrong.', takesDetail: true },
  reason_required: {
    title: 'Reason required',
    detail: 'Your access to this team has ended. Open the team again with a reason.',
  },
  second_factor_required: {
    title: 'Two-factor authentication required',
    detail:
      'Your team requires two-factor authentication. Set it up on your profile, or switch to another team.',
  },
  sso_failed: {
    title: 'Single sign-on failed',
    detail: 'Start again from the sign-in page, or ask an admin of your team.',
    takesDetail: true,
  },
  other_account: {
    title: 'Signed in as another person',
    detail: 'The identity belongs to another account. Sign out first, then sign in with it.',
  },
  sign_in_required: {
    title: 'Sign in for this team',
    detail: 'The team opens with its identity provider. Sign in with it, or switch to another team.',
  },
  local_sign_in_required: {
    title: 'Sign in with your password',
    detail:
      'The identity provider of a team signed you in. This part of your account opens with your password or a passkey. Without a password, reset it on the sign-in page.',
  },
  email_unconfirmed: {
    title: 'Confirm your e-mail address',
    detail: 'Open the link in the confirmation e-mail, then sign in.',
  },
  quota_exceeded: {
    title: 'Limit reached',
    detail: 'Delete what you no longer need, or ask your provider for a higher limit.',
    takesDetail: true,
  },
  not_found: {
    title: 'Not found',
    detail: 'It does not exist, was deleted, or belongs to another team.',
  },
  no_transceiver: {
    title: 'No module',
    detail: 'No module was found in this port. One that is inserted now is shown within an hour.',
  },
  method_not_allowed: { title: 'This is not possible here', detail: 'Reload the page and try again.' },
  not_validated: {
    title: 'Checks have not passed',
    detail: 'The prefix can be announced once all checks have passed.',
    takesDetail: true,
  },
  suspended: {
    title: 'Suspended by the provider',
    detail: 'Contact the provider to resume it.',
  },
  prefix_claimed: {
    title: 'The prefix is in use',
    detail:
      'Another customer of the provider has it, or one that covers it. If it is yours, contact the provider.',
    takesDetail: true,
  },
  still_announced: {
    title: 'The prefix is still announced',
    detail: 'Withdraw it and wait until it is withdrawn in every region, then delete it.',
    takesDetail: true,
  },
  already_member: {
    title: 'Already a member',
    detail: 'This person has joined the team.',
    takesDetail: true,
  },
  last_admin: {
    title: 'The team needs an admin',
    detail: 'Make another member an admin first.',
  },
  domain_claimed: {
    title: 'The domain is in use',
    detail: 'Another team has verified it. If it is yours, contact the provider.',
    takesDetail: true,
  },
  zone_claimed: {
    title: 'Another customer has this name',
    detail: 'Or a name above or below it. Verify the domain for your team, or contact the provider.',
  },
  would_drop: {
    title: 'The rules would drop normal traffic',
    detail: 'Check what each rule would drop. If that is right, apply the list anyway.',
  },
  not_attacked: {
    title: 'No ongoing attack targets the host',
    detail: 'Check what is on the host. If it is to be given up, confirm that.',
  },
  exists: {
    title: 'It exists already',
    detail: 'Change the existing one instead.',
    takesDetail: true,
  },
  delegated: {
    title: 'The domain still points here',
    detail: 'Change the name servers at your registrar first, and wait for the TTL.',
  },
  delete_protected: {
    title: 'The zone is protected from deletion',
    detail: 'Turn the protection off in the settings of the zone first.',
  },
  ds_present: {
    title: 'The parent zone still has a DS record',
    detail:
      'Delete it at your registrar first, or ask the parent to delete it. Otherwise resolvers that validate fail.',
  },
  in_use: {
    title: 'Something else depends on it',
    detail: 'Delete what depends on it first.',
    takesDetail: true,
  },
  managed: {
    title: 'Managed by Pharos',
    detail: 'This record follows from the settings of the zone.',
    takesDetail: true,
  },
  conflict: {
    title: 'This is not possible now',
    detail: 'The state has changed in the meantime. Reload the page to see it.',
    takesDetail: true,
  },
  idempotency_in_flight: { title: 'Still in progress', detail: 'Wait a moment, then reload the page.' },
  precondition_failed: {
    title: 'Someone else changed this',
    detail: 'Reload the page to see the change, then make yours again.',
  },
  body_too_large: { title: 'Too large', detail: 'Choose a smaller file.', takesDetail: true },
  unsupported_media_type: {
    title: 'This file type is not accepted',
    detail: 'Choose a PDF, PNG or JPEG.',
    takesDetail: true,
  },
  invalid: { title: 'Some values are not accepted', detail: 'Check the form and try again.' },
  reserved_asn: {
    title: 'Reserved AS number',
    detail: 'Use the AS number that a regional registry assigned to you.',
    takesDetail: true,
  },
  idempotency_mismatch: { title: 'The request was not sent', detail: 'Reload the page and try again.' },
  rate_limited: {
    title: 'Too many requests',
    detail: 'Wait a moment, then try again.',
    takesDetail: true,
  },
  internal: {
    title: 'Something went wrong',
    detail: 'Try again. If it happens again, contact the provider and quote the request ID.',
  },
  unavailable: {
    title: 'Temporarily unavailable',
    detail: 'Nothing was changed. Try again in a moment.',
  },
  restoring: {
    title: 'Changes are paused',
    detail:
      'Your provider restored a backup and compares it with the network. Nothing was changed. Try again later.',
  },
  undecided: {
    title: 'Decide all differences first',
    detail: 'Some differences between the database and the network are undecided.',
    takesDetail: true,
  },
  query_too_expensive: {
    title: 'Too much data',
    detail: 'Select a shorter time range, fewer keys or a coarser resolution, or add filters.',
  },
}

const number = (count: number): string => count.toLocaleString('en')

export const words = {
  problems,
  unreachable: {
    title: 'Cannot reach the server',
    detail: 'Check your connection. Data on this page may be out of date.',
  },
  unknownProblem: { title: 'Something went wrong', detail: 'Reload the page and try again.' },
  requestId: (id: string): string => `Request ID ${id}`,
  copyRequestId: 'Copy request ID',
  tryAgainIn: (duration: string): string => `Try again in ${duration}.`,
  retry: 'Retry',
  notUpdatedSince: 'Not updated since',
  wait: (duration: string): string => `Wait ${duration}`,

  /** Errors at a field; the label is the subject. */
  field: {
    isRequired: (label: string): string => `${label} is required.`,
    isNotValid: (label: string): string => `${label} is not valid.`,
    isTooFar: (label: string): string => `${label} must be at most 5 years from now.`,
  },
  optional: 'optional',

  cancel: 'Cancel',
  done: 'Done',
  save: 'Save',
  discard: {
    title: 'Discard changes?',
    text: 'Your changes on this page have not been saved.',
    ofDialog: 'What you entered has not been saved.',
    keep: 'Keep editing',
    action: 'Discard changes',
  },
  unsaved: 'Unsaved changes',
  newer: {
    text: (name: string): string =>
      `Someone has changed ${name} meanwhile. Your changes are based on the earlier version.`,
    this: 'this',
    load: 'Discard and load the new version',
  },
  removeFile: 'Remove file',
  reveal: (name: string): string => `Show ${name}`,
  hide: (name: string): string => `Hide ${name}`,
  copied: 'Copied',
  copy: (name: string): string => `Copy ${name}`,
  copyText: 'Copy',
  noCountry: 'No countries match.',
  noZone: 'No time zones match.',
  expiry: {
    preset: (days: number, date: string): string => `${days === 365 ? '1 year' : `${days} days`} – ${date}`,
    never: 'Never expires',
    custom: 'Another date',
    day: 'Day, in UTC',
    needsDay: 'must be a date',
  },
  list: {
    count: (count: number, [one, several]: readonly [string, string]) =>
      `${number(count)} ${count === 1 ? one : several}`,
    noMatch: (several: string) => `No ${several} match these filters`,
    refresh: 'Refresh',
    retry: 'Retry',
    viewOptions: 'View options',
    columns: 'Columns',
    density: 'Row height',
    comfortable: 'Comfortable',
    compact: 'Compact',
    sortBy: 'Sort by',
    sortDirection: 'Reverse the order',
    resetColumns: 'Reset columns',
    moveUp: (header: string) => `Move ${header} up`,
    moveDown: (header: string) => `Move ${header} down`,
    widthOf: (header: string) => `Width of ${header}`,
    export: 'Export',
    exportAll: (count: number) => `Export all ${number(count)} (current filters and sort)`,
    exportProgress: 'Export progress',
    exported: (rows: number, count: number) => `${number(rows)} of ${number(count)} exported`,
    cancel: 'Cancel',
    ignored: (names: readonly string[]) => `Ignored in the address: ${names.join(' · ')}`,
    dismiss: 'Dismiss',
    rowsLabel: (several: string) => `List of ${several}`,
  },
  filter: {
    add: 'Add filter',
    by: (label: string) => `Filter by ${label.toLowerCase()}`,
    clear: 'Clear filters',
    label: 'Filters',
    edit: (label: string, value: string) => `${label}: ${value}. Edit filter`,
    remove: (label: string) => `Remove filter ${label}`,
    apply: 'Apply',
    done: 'Done',
    findOption: 'Find',
    noOption: 'No option matches.',
  },
  views: {
    button: 'Views',
    all: (several: string) => `All ${several}`,
    save: 'Save this view',
    name: 'Name of the view',
    own: 'My views',
    ofTeam: 'Views of the team',
    shareNew: 'Share with the team',
    share: (name: string) => `Share ${name} with the team`,
    takeBack: (name: string) => `Make ${name} mine only`,
    removeOfTeam: (name: string) => `Delete ${name} for the whole team?`,
    removeNow: 'Delete',
    copy: 'Copy link to this view',
    copied: 'Link copied.',
    makeDefault: (name: string) => `Open this list with ${name}`,
    noDefault: (name: string) => `Do not open this list with ${name}`,
    remove: (name: string) => `Delete view ${name}`,
  },
  selection: {
    row: 'Select row',
    inView: 'Select all in view',
    count: (count: number) => `${number(count)} selected`,
    all: (count: number) => `Select all ${number(count)}`,
    clear: 'Clear selection',
    bar: 'Selected rows',
  },
  bulk: {
    checking: (done: number, count: number) => `Checking ${number(done)} of ${number(count)}`,
    running: (done: number, count: number) => `${number(done)} of ${number(count)} done`,
    possible: (count: number) => `${number(count)} can be changed`,
    impossible: (count: number) => `${number(count)} cannot be changed and will be skipped`,
    unchanged: (count: number) => `${number(count)} already as requested`,
    succeeded: (count: number) => `${number(count)} succeeded`,
    failed: (count: number) => `${number(count)} failed`,
    stopped: (count: number) => `${number(count)} not attempted`,
    stop: 'Stop',
    retry: 'Retry failed',
    close: 'Close',
    cancel: 'Cancel',
    progress: 'Progress',
  },
  stepState: { done: 'done', now: 'in progress', warn: 'needs action', bad: 'failed', next: 'not yet' },
  panel: {
    close: 'Close panel',
    open: 'Open page',
  },
  range: {
    label: 'Time range',
    any: 'Any time',
    names: {
      '1h': 'Last hour',
      '24h': 'Last 24 hours',
      '7d': 'Last 7 days',
      '30d': 'Last 30 days',
      '90d': 'Last 90 days',
      '365d': 'Last 12 months',
      'this-month': 'This month',
      'last-month': 'Last month',
    },
    lastOf: (count: number, unit: string) => `Last ${count} ${unit}${count === 1 ? '' : 's'}`,
    custom: 'Custom range',
    recent: 'Recent',
    from: 'From',
    to: 'To',
    now: 'now',
    start: 'beginning',
    format: 'Enter YYYY-MM-DD HH:MM, now, or a time before now such as now-24h',
    order: 'The end must be after the start',
    zone: (zone: string) => `Times are in ${zone}`,
    apply: 'Apply',
    earlier: 'Earlier',
    later: 'Later',
  },
} as const
