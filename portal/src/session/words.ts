// The texts of the pages for guests: sign-in and what the links of e-mails open.
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
} as const
