// The texts of the security events.

export const words = {
  oneMeasurement: 'Only one measurement, shown as a level until the end of the attack.',
  noMeasurement: 'The detector reported no rates.',
}
