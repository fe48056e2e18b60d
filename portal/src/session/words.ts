// Texts of the guest pages: sign-in and the targets of e-mailed links.
export const words = {
  signIn: 'Sign in',
  signedOut: 'You have signed out.',
  expired: 'Your session has expired. Sign in to continue.',
  email: 'E-mail',
  password: 'Password',
  newPassword: 'New password',
  code: 'Authentication code',
  codeHelp: 'From your authenticator app, or a recovery code.',
  forgot: 'Forgot password?',
  backToSignIn: 'Back to sign-in',
  support: 'Contact support',
  resetTitle: 'Reset your password',
  resetHelp: 'We send a link to this address.',
  sendLink: 'Send reset link',
  linkSent: (email: string): string =>
    `If an account exists for ${email}, we sent a reset link. It expires in 1 hour.`,
  setPassword: 'Set new password',
  passwordChanged: 'Password changed. You were signed out everywhere.',
  factorStays: 'Two-factor authentication stays on.',
  firstName: 'First name',
  lastName: 'Last name',
  incompleteLink: 'This link is incomplete. Open the full link from the e-mail.',
  confirmTitle: 'Confirm your e-mail address',
  confirmed: (email: string): string => `${email} is confirmed.`,

  invitation: {
    title: 'Invitation',
    join: (team: string): string => `Join ${team}`,
    text: (by: string, email: string, roles: string): string =>
      `${by} invited you (${email}) to join as ${roles}.`,
    expires: 'The invitation expires',
    hasAccount: 'You already have an account with this address. Join, then sign in.',
    accept: 'Join team',
    create: 'Create account and join',
    joined: (team: string): string => `You have joined ${team}.`,
  },

  gate: {
    title: 'One more step',
    required: (team: string): string => `${team} requires two-factor authentication`,
    text: 'Set it up with an authenticator app (TOTP) on your phone or in your password manager. You get access as soon as it is on.',
    factor: 'Two-factor authentication',
    others: 'Or switch to another team for now.',
  },

  module: {
    title: (team: string): string => `Not enabled for ${team}`,
    names: { ipam: 'address management', lighthouse: 'attack detection' },
    part: (name: string): string => `This page is part of ${name}.`,
    staff: 'Enable it for the team in the platform file.',
    admin: 'Ask your provider to enable it.',
    member: 'Ask an admin of your team to have it enabled by the provider.',
    otherTeam: 'If another of your teams has it, switch teams.',
    admins: 'See the admins of your team',
  },
} as const
