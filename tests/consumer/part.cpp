// SPDX-License-Identifier: Apache-2.0
// A shared library of the consumer's.
int distinct_keys() { return 500; }
