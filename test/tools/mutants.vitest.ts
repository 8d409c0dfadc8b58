// The unit tests in which Stryker looks for mutants.
import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

const unit = config.test?.projects?.[0] as { test: { exclude: string[] } };
// Stryker rewrites the source, so tests of its text would fail.
unit.test.exclude.push('test/docs/**', 'test/architecture.test.ts');

export default defineConfig({ ...config, test: { ...config.test, projects: [unit] } });
