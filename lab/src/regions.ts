// The regions of `npm run lab`, at fixed addresses, so that lab/platform.yaml can name them.

export const labRegions = [
  { name: 'ams', subnet: '127.0.10' },
  { name: 'fra', subnet: '127.0.20' },
] as const
