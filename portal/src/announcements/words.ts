// The texts of the announcements' list, in one place to review and translate.
const prefixes = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'prefix' : 'prefixes'}`

export const words = {
  list: {
    filters: {
      network: 'Prefix or address',
      networkMistake: 'Enter an address or prefix, such as 203.0.113.0/24',
      status: 'Status',
      region: 'Region',
      origin: 'Origin AS',
      enabled: 'Enabled',
      yes: 'Yes',
      no: 'No',
      family: 'Address family',
      deleted: 'Deleted',
      onlyDeleted: 'Deleted in the last 7 days',
    },
    actions: {
      enable: 'Announce',
      enableTitle: (count: number) => `Announce ${prefixes(count)}?`,
      enableEffect: 'Each prefix is announced in its regions if all of its checks have passed.',
      disable: 'Withdraw',
      disableTitle: (count: number) => `Withdraw ${prefixes(count)}?`,
      disableEffect:
        'We will no longer announce these prefixes. Those that you do not announce elsewhere become unreachable.',
      check: 'Check again',
      checkTitle: (count: number) => `Check ${prefixes(count)} again?`,
      checkEffect: 'The checks of each prefix start now instead of at the next scheduled time.',
      announcedIn: (regions: string) => `Will be announced in ${regions}.`,
      withdrawnFrom: (regions: string) => `Will be withdrawn from ${regions}.`,
    },
  },
} as const
