// SPDX-License-Identifier: Apache-2.0
// A function in a shared library of the consumer.
int distinct_keys() { return 500; }
