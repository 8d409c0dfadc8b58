// Seconds east of UTC for the time zone abbreviations of PHP's DateTime, as PHP 8.2 reads them. For an abbreviation
// with several meanings, PHP and this table use the first.
const TABLE = `
  ACDT 37800, ACST 34200, ADDT -7200, ADT -10800, AEDT 39600, AEST 36000, AHDT -32400, AHST -36000,
  AKDT -28800, AKST -32400, AMT -13840, APT -10800, AST -14400, AWDT 32400, AWST 28800, AWT -10800,
  BDST 7200, BDT -36000, BMT -14309, BST 3600, CAST 34200, CAT 7200, CDDT -14400, CDT -18000, CEMT 10800,
  CEST 7200, CET 3600, CMT -15408, CPT -18000, CST -21600, CWT -18000, CHST 36000, DMT -1521, EAT 10800,
  EDDT -10800, EDT -14400, EEST 10800, EET 7200, EMT -26248, EPT -14400, EST -18000, EWT -14400,
  FFMT -14660, FMT -4056, GDT 39600, GMT 0, GST 36000, HDT -34200, HKST 32400, HKT 28800, HMT -19776,
  HPT -34200, HST -36000, HWT -34200, IDDT 14400, IDT 10800, IMT 25025, IST 7200, JDT 36000, JMT 8440,
  JST 32400, KDT 36000, KMT 5736, KST 30600, LST 9394, MDDT -18000, MDST 16279, MDT -21600, MEST 7200,
  MET 3600, MMT 9017, MPT -21600, MSD 14400, MSK 10800, MST -25200, MWT -21600, NDDT -5400, NDT -9052,
  NPT -9000, NST -12600, NWT -9000, NZDT 46800, NZMT 41400, NZST 43200, PDDT -21600, PDT -25200, PKST 21600,
  PKT 18000, PLMT 25590, PMT -13236, PPMT -17340, PPT -25200, PST -28800, PWT -25200, QMT -18840, RMT 5794,
  SAST 7200, SDMT -16800, SJMT -20173, SMT -13884, SST -39600, TBMT 10751, TMT 12344, UCT 0, UTC 0,
  WAST 7200, WAT 3600, WEMT 7200, WEST 3600, WET 0, WIB 25200, WITA 28800, WIT 32400, WMT 5040, YDDT -25200,
  YDT -28800, YPT -28800, YST -32400, YWT -28800
`;

const OFFSETS: ReadonlyMap<string, number> = new Map(
  TABLE.split(',').map(entry => {
    const [name, seconds] = entry.trim().split(' ') as [string, string];
    return [name, Number(seconds)];
  }),
);

/** A to M east of Greenwich without J, N to Y west, Z on it. */
const MILITARY = 'YXWVUTSRQPONZABCDEFGHIKLM';

/** Returns seconds east of UTC, or undefined for an abbreviation that PHP does not know. */
export function abbreviationOffset(name: string): number | undefined {
  const upper = name.toUpperCase();
  if (upper.length === 1 && MILITARY.includes(upper)) return (MILITARY.indexOf(upper) - 12) * 3600;
  return OFFSETS.get(upper);
}
