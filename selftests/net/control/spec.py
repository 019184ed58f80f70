#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the netlink specification with the ABI header: spec.py SPEC HEADER

Every attribute and command has the same name and number in both, and commands name
attributes that there are. Exit status 0: they agree, 1: they do not (differences on stdout).
"""
import re
import sys

import yaml


def enum_numbers(header, prefix):
    """Names and numbers of the enum whose first entry is PREFIX + UNSPEC."""
    body = re.search(r'\b' + prefix + r'UNSPEC,(.*?)__' + prefix + 'MAX', header, re.S).group(1)
    names = re.findall(r'^\s*' + prefix + r'(\w+),', body, re.M)
    return {name.lower().replace('_', '-'): i + 1 for i, name in enumerate(names)}


def named(node):
    """All names in lists of attributes below a command."""
    for key, value in node.items():
        if key == 'attributes':
            yield from value
        elif isinstance(value, dict):
            yield from named(value)


def main():
    """Print what differs."""
    with open(sys.argv[1], encoding='utf-8') as f:
        spec = yaml.safe_load(f)
    with open(sys.argv[2], encoding='utf-8') as f:
        header = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    bad = 0
    for attrs in spec['attribute-sets']:
        want = enum_numbers(header, 'FL_A_' + attrs['name'].upper() + '_')
        have = {}
        number = 0
        for attr in attrs['attributes']:
            number = attr.get('value', number + 1)
            have[attr['name']] = number
        if have != want:
            print('attributes of', attrs['name'], set(have.items()) ^ set(want.items()))
            bad = 1
    there = {attrs['name']: {attr['name'] for attr in attrs['attributes']}
             for attrs in spec['attribute-sets']}
    for op in spec['operations']['list']:
        unknown = set(named(op)) - there[op['attribute-set']]
        if unknown:
            print(op['name'], 'has unknown attributes', unknown)
            bad = 1
    want = enum_numbers(header, 'FL_CMD_')
    have = {}
    number = 0
    for op in spec['operations']['list']:
        number = op.get('value', number + 1)
        have[op['name']] = number
    if have != want:
        print('commands', set(have.items()) ^ set(want.items()))
        bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main())
