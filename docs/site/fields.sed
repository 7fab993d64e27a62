# SPDX-License-Identifier: Apache-2.0
# The fields of a docstring, each a paragraph of its own.
s#^( *///) (Returns|Complexity|Requires|Concurrency|Memory|Source|Throws):#\1\n\1 \2:#
